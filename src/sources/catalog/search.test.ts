import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { type OpenedCatalog, openForReading } from './reader.ts';
import { catalogPaths } from './schema.ts';

const CHANNELS = [
  catalogLine(1, { title: 'Cook', subscriberCount: '10' }),
  catalogLine(2, { title: 'Cook', subscriberCount: null }),
  catalogLine(3, { title: 'Cooking with Ann', customUrl: '@ann.cooks', subscriberCount: '500' }),
  catalogLine(4, { title: 'Cookbook club', subscriberCount: '700' }),
  catalogLine(5, { title: 'The Cook', subscriberCount: '9000000000' }),
  catalogLine(6, { title: 'Garden', description: 'Things to cook', subscriberCount: '1000' }),
  catalogLine(7, { title: 'Something else', customUrl: '@cook', subscriberCount: '3' }),
  catalogLine(8, { title: 'Élan Café', description: 'naïve', customUrl: '@elan', username: 'elanfilms' }),
  catalogLine(9, { title: '星図アトラス', customUrl: '@星図', description: '毎晩の星空' }),
  catalogLine(10, { title: '🎉 Party!!', subscriberCount: '1' }),
  catalogLine(11, { title: 'हिन्दी समाचार' }),
  // The word is once in a long text and once in a short one, which SQLite would rank higher.
  catalogLine(12, {
    title: 'Flowers',
    description: `A tulip ${'among many other plants '.repeat(20)}`,
    subscriberCount: '2',
  }),
  catalogLine(13, { title: 'Bulbs', description: 'Tulip, tulip, tulip', subscriberCount: '1' }),
];

let directory: string;
let catalog: OpenedCatalog;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pennant-search-'));
  expect((await importLines(directory, CHANNELS)).refusals).toEqual([]);
  const opened = openForReading(catalogPaths(directory).database);
  if (opened === undefined) throw new Error('the catalog has no tables');
  catalog = opened;
});
afterAll(async () => {
  catalog.close();
  await rm(directory, { recursive: true });
});

const found = (query: string, limit = 20) =>
  catalog.reader.search(query, limit).map(({ channelId }) => Number(channelId.slice(2)));

describe('a search in the catalog', () => {
  it('lists exact handles and titles first, then titles with this beginning, then other text, each by subscribers', () => {
    expect(found('cook')).toEqual([1, 7, 2, 4, 3, 5, 6]);
    expect(found('tulip')).toEqual([12, 13]);
    expect(found('tulip', 1)).toEqual([12]);
    expect(found('COOK', 3)).toEqual([1, 7, 2]);
    expect(found('cook', 5)).toEqual([1, 7, 2, 4, 3]);
  });

  it.each([
    ['elan cafe', [8]],
    ['ÉLAN', [8]],
    ['naive', [8]],
    ['caf', [8]],
    ['ann coo', [3]],
    ['星', [9]],
    ['アトラ', [9]],
    ['図星', []],
    ['星空', [9]],
    ['समाचार', [11]],
    ['🎉', [10]],
    ['🎉 party!!', [10]],
    ['the cook garden', []],
    ['"', []],
    ['cook"', [1, 2, 3, 4, 5, 6, 7]],
    ['NOT cook', []],
    ['title: cook', []],
    ['^cook', [5, 4, 6, 3, 1, 7, 2]],
  ])('finds the expected channels with %s', (query, expected) => {
    expect(found(query).sort()).toEqual(expected.sort());
  });

  it.each([
    numberedChannelId(6),
    `https://www.youtube.com/channel/${numberedChannelId(6)}`,
    `https://banners.example/${numberedChannelId(6)}/avatar`,
  ])('finds the channel that %s names', (query) => {
    expect(found(query)[0]).toBe(6);
  });

  it('finds the channel of the URL of a handle or user name', () => {
    expect(found('@ann.cooks')[0]).toBe(3);
    expect(found('@星図')).toEqual([9]);
    expect(found('youtube.com/user/ElanFilms')).toEqual([8]);
    expect(found('https://www.youtube.com/c/elanfilms')).toEqual([8]);
  });

  it('returns the fields of a hit', () => {
    expect(catalog.reader.search('elan', 1)).toEqual([
      {
        channelId: numberedChannelId(8),
        title: 'Élan Café',
        description: 'naïve',
        customUrl: '@elan',
        subscriberCount: null,
        videoCount: null,
        banner: 'absent',
        avatar: 'absent',
      },
    ]);
  });

  it('lists the channels with the most subscribers first if more titles have the same beginning than are read', async () => {
    const dataDir = await createTemporaryDirectory();
    const numbers = Array.from({ length: 20_500 }, (_, index) => index);
    // The last titles have the most subscribers. Channels with more subscribers have the word elsewhere.
    const lines = numbers.map((number) =>
      catalogLine(number, { title: `Same ${String(number).padStart(5, '0')}`, subscriberCount: String(number) }),
    );
    const others = numbers
      .slice(0, 100)
      .map((number) => catalogLine(90_000 + number, { title: `Not the same ${number}`, subscriberCount: '1000000' }));
    await importLines(dataDir, [...lines, ...others]);
    const many = openForReading(catalogPaths(dataDir).database);
    expect(many?.reader.search('same', 3).map(({ title }) => title)).toEqual([
      'Same 20499',
      'Same 20498',
      'Same 20497',
    ]);
    many?.close();
  });

  it('never fails, and never returns too many hits or one twice, for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
      fc.string({ unit: fc.constantFrom(...'"\'*^:(){}[]-+ANDORT cook%_\u0301星🎉\0'), minLength: 1, maxLength: 100 }),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (query, limit) => {
        const numbers = found(query, limit);
        expect(numbers.length).toBeLessThanOrEqual(limit);
        expect(new Set(numbers).size).toBe(numbers.length);
      }),
      { numRuns: 2_000 },
    );
  });
});
