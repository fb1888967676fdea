import { expect, onTestFinished, test } from 'vitest';
import { jsonResponse } from '../helpers/replay-responses.ts';
import { startYoutubeService } from '../helpers/youtube-service.ts';

const CHANNEL = 'UChostileTitle0000000001';

test('a title that YouTube sends with line breaks and a change of direction goes out as one plain line', async () => {
  const title = '\u202eBell\r\nRock\0';
  const page = { metadata: { channelMetadataRenderer: { externalId: CHANNEL, title } } };
  const running = await startYoutubeService({ responses: [jsonResponse('browse', { browseId: CHANNEL }, page)] });
  onTestFinished(() => running.close());
  const record = await running.service.get(`/api/channel/${CHANNEL}`);
  expect([record.status, record.json().title]).toEqual([200, 'Bell Rock']);
});
