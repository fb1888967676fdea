import { expect, it, onTestFinished } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { CHANNELS, KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { OWN_RESPONSES, readResponses } from '../helpers/replay-responses.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

/* jq and Python refuse JSON with half a surrogate pair, and in a batch the other channels with it. */

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HALF = '\ud83d';
const HALF_ESCAPE = /\\ud[89a-f]/i;

/** YouTube’s responses, with half a surrogate pair in every text that contains an "i". */
const responses = readResponses(OWN_RESPONSES).map((response) => ({
  ...response,
  text: response.file.endsWith('.xml')
    ? response.text.replace('<title>', '<title>&#xD83D; ')
    : response.text.replaceAll(/("(?:title|content|simpleText|text|description)": ?")(?=[^"@/]*i)/g, '$1\\ud83d'),
}));

it('half a surrogate pair is U+FFFD in records, searches and batches of YouTube and of the operator', async () => {
  const dataDir = await createDataDir();
  const texts = { title: `i${HALF}`, description: HALF, links: [{ title: HALF, url: 'https://a.example/' }] };
  await writeCatalog(dataDir, [catalogLine(1, texts)]);
  const { service } = await startYoutubeForTest({ responses }, { dataDir, env: { SOURCES: 'catalog,youtube' } });
  const textOf = async (path: string) => {
    const { status, text } = await service.get(path);
    expect(status).toBe(200);
    expect(text).not.toMatch(HALF_ESCAPE);
    return text;
  };
  const record = JSON.parse(await textOf(`/api/channel/${LIGHTHOUSE}`));
  expect(record).toMatchObject({ title: expect.stringMatching(/^\ufffd /), viewCount: '312530935570' });
  expect(record.description).toContain('\ufffd');
  expect(JSON.stringify(record.links)).toContain('\ufffd');
  expect(await textOf('/api/search?q=light')).toContain('\ufffd');
  const batch = await textOf(`/api/channels?ids=${LIGHTHOUSE},${numberedChannelId(1)}`);
  expect(JSON.parse(batch).results[1].channel).toMatchObject({
    title: 'i\ufffd',
    description: '\ufffd',
    links: [{ title: '\ufffd' }],
  });
});

it('half a surrogate pair is U+FFFD in records and searches of the official API', async () => {
  const channels = CHANNELS.map((channel) => ({ ...channel, snippet: { ...channel.snippet, title: `a${HALF}` } }));
  const api = await startFakeUpstream(respondAsDataApi(channels));
  onTestFinished(api.close);
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY, YOUTUBE_ORIGIN: api.origin };
  const service = await startTestApp({ env });
  onTestFinished(service.close);
  for (const path of [`/api/channel/${CHANNELS[0]?.id}`, '/api/search?q=a'])
    expect((await service.get(path)).text).toContain('"title":"a\ufffd"');
});
