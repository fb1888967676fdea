import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { storedImagesIn } from '../helpers/images.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const [BLOCKED, OTHER] = ['UCPennantSample00000001A', 'UCPennantSample00000003A'];
/** Text from the blocked channel's description. */
const WORDS = 'a banner that names its own crops';
/** Every URL of the channel and of what is made from it. */
const WAYS = [
  `/api/channel/${BLOCKED}`,
  '/api/channel/pennantsample?type=handle',
  '/api/channel/pennantsample?type=username',
  `/channel/${BLOCKED}`,
  '/c/pennantsample',
  '/user/pennantsample',
  `/api/banner/${BLOCKED}?type=avatar`,
  '/api/banner/@pennantsample',
  '/api/banner/pennantsample?type=mobile',
  `/${BLOCKED}`,
  `/${BLOCKED}/tv.avif`,
  '/@PennantSample/tablet?format=webp',
  '/@pennantsample/desktop?width=333&quality=41',
  '/pennantsample/avatar?height=77',
];
const SEARCHES = ['/api/search?q=crops', '/api/search?q=@pennantsample&limit=20', `/api/search?q=${BLOCKED}`];
/** The blocked channel is not among its hits. */
const OTHER_SEARCH = '/api/search?q=suppers';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createDataDir();
});

function start(env: Record<string, string> = {}): Promise<TestApp> {
  return startWithoutEncoder({ dataDir, env, ...fetchedSamples() });
}

/** Fills the stores with the channel through every URL, and with the image of another channel. */
async function fillStores(): Promise<void> {
  const app = await startTestApp({
    dataDir,
    encoder: createFakeEncoder(),
    ...fetchedSamples(),
  });
  for (const way of [...WAYS, ...SEARCHES, OTHER_SEARCH, `/${OTHER}/tv.webp`])
    expect([way, (await app.get(way)).status]).toEqual([way, 200]);
  await app.close();
}

/** Everything in the data directory. */
async function storedBytes(): Promise<string> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  return texts.join('');
}

const countImages = () => storedImagesIn(dataDir).length;

async function expectEveryWayBlocked(app: TestApp): Promise<void> {
  for (const way of WAYS) {
    const response = await app.get(way);
    expect([way, response.status, response.json().code]).toEqual([way, 451, 'channel_blocked']);
  }
}

async function expectNotFound(app: TestApp): Promise<void> {
  for (const search of SEARCHES) {
    const { results } = (await app.get(search)).json<{ results: { channelId: string }[] }>();
    expect(results.map(({ channelId }) => channelId)).not.toContain(BLOCKED);
  }
}

describe('a channel that is blocked after it was stored', () => {
  test('gets 451 from the start, and is removed from the disk soon after, and everything else stays', async () => {
    await fillStores();
    expect(await storedBytes()).toContain(WORDS);
    const before = countImages();
    const app = await start({ BLOCKED_CHANNELS: BLOCKED });
    await expectEveryWayBlocked(app);
    // Searches come later, because their results are stored and one query is the channel's ID.
    await expect.poll(storedBytes).not.toMatch(new RegExp(`${WORDS}|${BLOCKED}`));
    // The original and image of the other channel.
    expect(before).toBeGreaterThan(2);
    await expect.poll(countImages).toBe(2);
    for (const way of [`/${OTHER}/tv.webp`, OTHER_SEARCH])
      expect((await app.get(way)).headers['cache-status']).toMatch(/^pennant; hit/);
    await expectNotFound(app);
  });
});
