import { expect, test } from 'vitest';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

test('metrics have durations in seconds', async () => {
  const clock = createManualClock();
  const source = numberedSource();
  const slow: ChannelSource = {
    ...source,
    getChannel(channelId, options) {
      clock.advance(2_000);
      return source.getChannel(channelId, options);
    },
  };
  const service = await startWithoutEncoder({ clock, sources: [slow] });
  await service.get(`/channel/${numberedChannelId(1)}`);
  const call = 'pennant_source_call_duration_seconds_sum{source="numbered",operation="getChannel"}';
  expect(await service.metric(call)).toBe(2);
  expect(await service.metric('pennant_http_request_duration_seconds_sum{route="/channel/:identifier"}')).toBe(2);
});
