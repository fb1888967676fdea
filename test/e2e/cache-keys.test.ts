import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import type { Identifier } from '../../src/domain/identifier.ts';
import { startTestApp, startWithoutEncoder, type TestApp, useTestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { createStub, hit, numberedChannelId, testChannel } from '../helpers/fake-source.ts';

/*
 * A cache key has one meaning: whatever was asked first, the next request gets what it would get alone.
 */

const SAMPLE = 'UCPennantSample00000001A';
const NARROW = numberedChannelId(1);
const searchFor = (text: string) => `/api/search?q=${encodeURIComponent(text)}`;

async function idsIn(app: TestApp, query: string): Promise<string[]> {
  const { results } = (await app.get(searchFor(query))).json<{ results: { channelId: string }[] }>();
  return results.map(({ channelId }) => channelId);
}

describe('a search', () => {
  let app: TestApp;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
    await writeCatalog(dataDir, [
      catalogLine(1, { title: 'Narrow', customUrl: '@Schmalspur.Höhe' }),
      catalogLine(2, { channelId: SAMPLE, customUrl: '@PennantSample', username: 'PennantSample' }),
    ]);
    app = await startTestApp({ dataDir });
  });
  afterAll(async () => {
    await app.close();
    await rm(dataDir, { recursive: true });
  });

  const page = 'https://www.youtube.com';

  test.each([
    ['an ID in another letter case', SAMPLE.toUpperCase(), SAMPLE],
    ['a page of an ID in another letter case', `${page}/channel/${SAMPLE.toUpperCase()}`, `${page}/channel/${SAMPLE}`],
    [
      'an escaped ID in another letter case',
      `${page}/channel/UC%50ENNANTSAMPLE00000001A`,
      `${page}/channel/UC%50ennantSample00000001A`,
    ],
    ['a text like the key of a handle', 'no-such-user handle:pennantsample', '@pennantsample'],
    ['a handle and the words of its key', '@pennantsample  handle:pennantsample', '@pennantsample'],
  ])('does not give the second the response of the first: %s', async (_what, first, second) => {
    await app.get(searchFor(first));
    expect((await idsIn(app, second))[0]).toBe(SAMPLE);
  });
});

describe('names reach the sources as they are written, once for all spellings', () => {
  const asked: string[] = [];
  const strict = {
    ...createStub({ name: 'strict' }),
    async resolve({ kind, value, key }: Identifier) {
      asked.push(`${kind} ${value}`);
      const number = [
        'handle école',
        'handle ǰx',
        'handle i̇x',
        'handle straße',
        'username école',
        'username held',
        'handle held',
      ].indexOf(`${kind} ${key}`);
      if (number === -1) throw new AppError('channel_not_found', 'none');
      return { channelId: numberedChannelId(number) };
    },
    async getChannel(channelId: string) {
      return { channel: testChannel(channelId, { links: [] }), isComplete: true, missing: [] };
    },
    async search(query: string) {
      asked.push(query);
      return query === 'höhe über alles' ? [hit(NARROW)] : [];
    },
  };
  const app = useTestApp({ sources: [strict] });
  beforeEach(() => void asked.splice(0));

  test.each([
    ['E\u0301COLE', 'école', 'handle'],
    ['J\u030cX', 'ǰx', 'handle'],
    ['İX', 'i̇x', 'handle'],
    ['STRAẞE', 'straße', 'handle'],
    ['HELD', 'held', 'handle'],
    ['HELD', 'held', 'username'],
  ])('%s is the same name as %s', async (one, other, type) => {
    const urls = [one, other].map((name) => `/api/channel/${encodeURIComponent(name)}?type=${type}`);
    const [first, second] = [await app.get(urls[0] ?? ''), await app.get(urls[1] ?? '')];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.json().channelId).toBe(second.json().channelId);
    expect(asked).toEqual([`${type} ${one.normalize('NFC')}`]);
  });

  test('a handle is another name than a user name', async () => {
    const ids = ['handle', 'username'].map(async (type) => (await app.get(`/api/channel/held?type=${type}`)).json());
    const [handle, username] = await Promise.all(ids);
    expect(handle?.channelId).not.toBe(username?.channelId);
  });

  test('a search text is composed and has single spaces', async () => {
    for (const text of ['ho\u0308he  u\u0308ber\talles ', 'höhe über alles']) {
      expect(await idsIn(app, text)).toEqual([NARROW]);
    }
    expect(asked).toEqual(['höhe über alles']);
  });
});

describe('a response of the last second', () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startWithoutEncoder({ env: { TRUST_PROXY: '127.0.0.1/32' } });
    // From here on, all responses are cache hits, and are kept for a second.
    for (const url of [`/channel/${SAMPLE}`, `/${SAMPLE}/avatar`, searchFor('pennant')]) await app.get(url);
  });

  test.each([
    ['host', `/channel/${SAMPLE}`, { host: 'one.example' }, { host: 'two.example' }, 'two.example'],
    ['port', `/channel/${SAMPLE}`, { host: 'one.example' }, { host: 'one.example:81' }, 'one.example:81/'],
    ['scheme', `/channel/${SAMPLE}`, {}, { 'x-forwarded-proto': 'https' }, '"https://pennant.test/'],
  ] as const)('is not sent for another %s', async (_what, url, first, second, expected) => {
    expect((await app.get(url, first)).text).not.toContain(expected);
    const { text } = await app.get(url, second);
    expect(text).toContain(expected);
  });

  test('is not sent for another Accept, nor for another letter case of a query', async () => {
    const typeFor = async (accept: string) => (await app.get(`/${SAMPLE}/avatar`, { accept })).headers['content-type'];
    for (const type of ['image/webp', 'image/avif', 'image/webp']) expect(await typeFor(type)).toBe(type);
    for (const q of ['pennant', 'PENNANT']) expect((await app.get(searchFor(q))).json().query).toBe(q);
    const limited = (limit: number) => app.get(`${searchFor('ni')}&limit=${limit}`);
    const counts = [1, 2, 1].map(async (limit) => (await limited(limit)).json<{ results: [] }>().results.length);
    expect(await Promise.all(counts)).toEqual([1, 2, 1]);
  });
});
