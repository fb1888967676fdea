import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_CHANNEL_ID, HELD_HANDLE, type HeldSource } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const IMAGE = Buffer.concat([Buffer.from('RIFFxxxxWEBP'), Buffer.alloc(1_000, 7)]);
const NEW_ORIGINAL = Buffer.concat([IMAGE, Buffer.from('new')]);
const RECORD = `/channel/${HELD_CHANNEL_ID}`;
const IMAGE_URL = `/${HELD_CHANNEL_ID}/avatar.avif`;

/** Work that waits until the test releases it. */
interface Gate {
  readonly reached: Promise<void>;
  open(): void;
}

/** What the fake components wait for, if anything. */
let gates: Partial<Record<'download' | 'encode' | 'page', { reached: () => void; opened: Promise<void> }>>;
/** How often the fake components were called. */
let passes: Partial<Record<keyof typeof gates, number>>;
/** What the image host has. */
let original: Buffer;
let source: HeldSource;
let app: TestApp;
let dataDir: string;

function closeGate(name: keyof typeof gates): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  gates[name] = { reached: reached.resolve, opened: opened.promise };
  return {
    reached: reached.promise,
    open() {
      delete gates[name];
      opened.resolve();
    },
  };
}

async function pass(name: keyof typeof gates): Promise<void> {
  passes[name] = (passes[name] ?? 0) + 1;
  gates[name]?.reached();
  await gates[name]?.opened;
}

const encoder = createFakeEncoder({
  info: { width: 900, height: 900, format: 'webp' },
  async encode() {
    await pass('encode');
    return IMAGE;
  },
});

beforeEach(async () => {
  gates = {};
  passes = {};
  original = IMAGE;
  source = createHeldSource(AVATAR);
  dataDir = await createDataDir();
  await start();
});

async function start(): Promise<void> {
  const downloader = {
    async download() {
      const downloaded = original;
      await pass('download');
      return downloaded;
    },
  };
  app = await startTestApp({ dataDir, sources: [source], downloader, encoder });
  const started = app;
  onTestFinished(() => started.close());
}

async function purge(body: object = { channel: HELD_CHANNEL_ID }): Promise<void> {
  expect((await app.purge(body)).status).toBe(200);
}

/** Everything in the data directory after all pending writes. */
async function storedBytes(): Promise<string> {
  await app.close();
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))).join('');
}

const titleIn = (text: string) => /(?:old|new) title/.exec(text)?.[0];
const HIT = { 'cache-status': expect.stringMatching(/^pennant; hit/) };

describe('a purged channel', () => {
  test.each([
    ['a record', RECORD],
    ['a record by its handle', `/api/channel/${HELD_HANDLE}?type=handle`],
    ['a search', '/api/search?q=title'],
  ])('is not stored by a load of %s that began before, nor returned to later requests', async (_what, url) => {
    const held = source.hold();
    const before = app.get(url);
    await held.asked;
    source.title = 'new title';
    await purge();
    const after = app.get(url);
    held.release();
    expect([titleIn((await before).text), titleIn((await after).text)]).toEqual(['old title', 'new title']);
    expect(titleIn((await app.get(url)).text)).toBe('new title');
    expect(await storedBytes()).not.toContain('old title');
  });

  test('is not stored again by requests between the steps of the purge', async () => {
    const urls = [RECORD, `/api/channel/${HELD_HANDLE}?type=handle`, '/api/search?q=title'];
    // Enough entries that the store is erased in several steps.
    const searches = Array.from({ length: 450 }, (_, number) => `/api/search?q=word${number}`);
    for (const url of [...urls, ...searches]) await app.get(url);
    source.title = 'new title';
    let isPurged = false;
    const purging = purge().then(() => {
      isPurged = true;
    });
    const between: string[] = [];
    while (!isPurged) {
      for (const { text } of await Promise.all(urls.map((url) => app.get(url)))) between.push(text);
      await nextTurn();
    }
    await purging;
    expect(between.length).toBeGreaterThan(3);
    for (const url of urls) expect(titleIn((await app.get(url)).text)).toBe('new title');
    app.clock.advance(2_000);
    for (const url of urls) expect(titleIn((await app.get(url)).text)).toBe('new title');
    expect(await storedBytes()).not.toContain('old title');
  });

  test.each(['download', 'encode'] as const)('is not stored by a cold image whose %s began before', async (step) => {
    await app.get(RECORD);
    const gate = closeGate(step);
    const before = app.get(IMAGE_URL);
    await gate.reached;
    await purge();
    gate.open();
    expect((await before).status).toBe(200);
    expect(await storedBytes()).not.toContain('RIFF');
  });

  test('is not returned to a request for an image whose download began before', async () => {
    await app.get(RECORD);
    const gate = closeGate('download');
    const before = app.get(IMAGE_URL);
    await gate.reached;
    original = NEW_ORIGINAL;
    await purge();
    const after = app.get(IMAGE_URL);
    await expect.poll(() => passes.download).toBe(2);
    gate.open();
    await before;
    const { etag } = (await after).headers;
    expect((await app.getLater(IMAGE_URL)).headers).toMatchObject({ ...HIT, etag });
    await purge();
    expect((await app.get(IMAGE_URL)).headers.etag).toBe(etag);
  });

  test('has its image stored by a request during an encode that began before', async () => {
    await app.get(RECORD);
    const gate = closeGate('encode');
    const before = app.get(IMAGE_URL);
    await gate.reached;
    await purge();
    const after = app.get(IMAGE_URL);
    await expect.poll(() => passes.encode).toBe(2);
    gate.open();
    expect([(await before).status, (await after).status]).toEqual([200, 200]);
    expect((await app.getLater(IMAGE_URL)).headers).toMatchObject(HIT);
    expect(passes.encode).toBe(2);
  });
});

test('purging a name removes the stored absence of its channel, and searches without a result', async () => {
  const [absentName, emptySearch] = ['/api/channel/nobody?type=handle', '/api/search?q=nothing'];
  source.search = async () => ({ hits: [] });
  expect((await app.get(absentName)).status).toBe(404);
  expect((await app.get(emptySearch)).json()).toMatchObject({ results: [] });
  const found = createHeldSource();
  source.resolve = (ref, options) => found.resolve({ ...ref, key: HELD_HANDLE }, options);
  source.search = found.search;
  expect((await app.get(absentName)).status).toBe(404);
  await purge({ channel: '@nobody' });
  expect((await app.get(absentName)).status).toBe(200);
  expect((await app.get(emptySearch)).json()).toMatchObject({ results: [{ channelId: HELD_CHANNEL_ID }] });
});
