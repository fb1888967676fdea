import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { catalogLine, writeCatalog } from '../../../test/helpers/catalog.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { identifierOfId } from '../../domain/identifier.ts';
import { type Catalog, openCatalog } from './catalog.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
});

function open(folder = join(dataDir, 'catalog')): Promise<Catalog> {
  return openCatalog({ folder, clock: createManualClock(), onChange: vi.fn(), onStateChange: vi.fn() });
}

async function openWith(...lines: readonly string[]): Promise<Catalog> {
  await writeCatalog(dataDir, lines);
  return open();
}

async function titleOf(catalog: Catalog, number: number) {
  return (await catalog.find(identifierOfId(numberedChannelId(number))))?.title;
}

const titlesFound = async (catalog: Catalog, query: string) => (await catalog.search(query)).map(({ title }) => title);

describe('the catalog', () => {
  it('reads a file as editors write it: with a byte order mark, carriage returns and no last line end', async () => {
    const catalog = await openWith(`\u{feff}${catalogLine(1)}\r`, '\r', catalogLine(2));
    expect([await titleOf(catalog, 1), await titleOf(catalog, 2)]).toEqual(['Channel 1', 'Channel 2']);
  });

  it('refuses to open without a file, and with bytes that are not UTF-8', async () => {
    await expect(open()).rejects.toThrow(/channels\.ndjson cannot be read \(ENOENT/);
    await writeCatalog(dataDir, [catalogLine(1)]);
    await appendFile(join(dataDir, 'catalog/channels.ndjson'), Buffer.from([0x22, 0xff, 0x22]));
    await expect(open()).rejects.toThrow(/, line \d: not UTF-8/);
  });

  it.each([
    ['an ID that an earlier line has', catalogLine(1), 'channelId: an earlier line has'],
    ['a handle that an earlier line has', catalogLine(2, { customUrl: '@ONE' }), 'customUrl: an earlier line has'],
    ['a user name that an earlier line has', catalogLine(2, { username: 'one' }), 'username: an earlier line has'],
  ])('refuses to open with %s', async (_what, line, mistake) => {
    const first = catalogLine(1, { customUrl: '@one', username: 'one' });
    await expect(openWith(first, line)).rejects.toThrow(`channels.ndjson, line 2: ${mistake}`);
  });
});

describe('a search', () => {
  it('finds the beginnings of words, all of them, in any order and without accents', async () => {
    const catalog = await openWith(
      catalogLine(1, { title: 'Été à la mer', customUrl: '@strand' }),
      catalogLine(2, { title: 'Merlin' }),
      catalogLine(3, { title: '東京の街' }),
    );
    expect(await titlesFound(catalog, 'ME ete')).toEqual(['Été à la mer']);
    expect(await titlesFound(catalog, 'm')).toEqual(['Été à la mer', 'Merlin']);
    expect(await titlesFound(catalog, 'stra')).toEqual(['Été à la mer']);
    expect(await titlesFound(catalog, '街')).toEqual(['東京の街']);
    expect(await titlesFound(catalog, 'merlin strand')).toEqual([]);
    expect(await titlesFound(catalog, 'lin')).toEqual([]);
    expect(await titlesFound(catalog, '!')).toEqual([]);
  });

  it('returns whole words first, and at most twenty', async () => {
    const titles = ['Lights of the sea', 'Light and shade', 'Lighthouse', 'Light'];
    const catalog = await openWith(...titles.map((title, number) => catalogLine(number, { title })));
    const found = ['Light and shade', 'Light', 'Lights of the sea', 'Lighthouse'];
    expect(await titlesFound(catalog, 'light')).toEqual(found);
    const many = await openWith(...Array.from({ length: 21 }, (_, number) => catalogLine(number)));
    expect(await many.search('channel')).toHaveLength(20);
  });
});
