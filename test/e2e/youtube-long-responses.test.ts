import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_BYTES_ON_EVENT_LOOP } from '../../src/lib/http/body-reader.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

let running: YoutubeService;
beforeAll(async () => {
  running = await startYoutubeService();
});
afterAll(() => running.close());
beforeEach(() => running.replay.behave());

/** The same response with a long field that the parser ignores. */
function padded(response: object, bytes: number) {
  return respondWithJson({ trackingParams: 'x'.repeat(bytes), ...response });
}

describe('a response that is too long for the event loop', () => {
  it('gives the same record', async () => {
    const { service, replay } = running;
    replay.misbehave('browse', padded(ownResponse('browseId', LIGHTHOUSE), MAX_BYTES_ON_EVENT_LOOP));
    const response = await service.get(`/api/channel/${LIGHTHOUSE}`);
    expect(response.json()).toMatchObject({
      title: 'Bell Rock Light',
      customUrl: '@BellRockLight',
      viewCount: '312530935570',
    });
  });

  it('gives the same search', async () => {
    const { service, replay } = running;
    replay.misbehave('search', padded(ownResponse('query', 'light'), MAX_BYTES_ON_EVENT_LOOP), 1);
    const response = await service.get('/api/search?q=light&limit=2');
    expect(response.json()).toMatchObject({
      results: [{ title: 'Bell Rock Light' }, { title: 'Pebble Drop - Topic' }],
    });
  });

  it('is unusable if it is a list of many elements instead of a channel', async () => {
    const { service, replay } = running;
    replay.misbehave('browse', respondWithJson({ header: Array.from({ length: 300_000 }, () => ({})) }));
    const response = await service.get('/api/channel/UCreplayManyElements0019');
    expect([response.status, response.json()]).toMatchObject([502, { code: 'upstream_invalid' }]);
  });

  it('is refused beyond 4 MiB', async () => {
    const { service, replay } = running;
    replay.misbehave('browse', padded(ownResponse('browseId', LIGHTHOUSE), MAX_RESPONSE_BYTES));
    const response = await service.get('/api/channel/UCreplayTooLong000000018');
    expect([response.status, response.json()]).toMatchObject([502, { code: 'upstream_invalid' }]);
  });
});
