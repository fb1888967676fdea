import { existsSync, readdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogLine, importLines, pngOf, writeImages } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { channelIdRef } from '../../domain/identifier.ts';
import { NoNdjsonError } from './import.ts';
import { type CatalogReader, openForReading } from './reader.ts';
import { parseRecord } from './record.ts';
import { catalogPaths } from './schema.ts';
import { IS_IMAGE_REFERENCED, openCatalogWriter } from './writer.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
});

function ask<T>(question: (reader: CatalogReader) => T): T {
  const catalog = openForReading(catalogPaths(dataDir).database);
  try {
    return question(catalog);
  } finally {
    catalog.close();
  }
}

const recordOf = (number: number) => ask((reader) => reader.findRecord(channelIdRef(numberedChannelId(number))));
const titlesFound = (query: string) => ask((reader) => reader.search(query, 20).map((hit) => hit.title));
const imagesIn = () => readdirSync(catalogPaths(dataDir).images);

describe('an import', () => {
  it('imports every valid line, and reports each invalid one with number, field and reason', async () => {
    const report = await importLines(dataDir, [
      catalogLine(1),
      catalogLine(2, { subscriberCount: 12.5 }),
      '{"channelId":',
      catalogLine(3, { bannerFile: 'missing.png' }),
      catalogLine(4, { username: 'four' }),
    ]);
    expect(report).toMatchObject({ added: 2, replaced: 0, refused: 3 });
    expect(report.refusals).toEqual([
      'line 2: subscriberCount: must be a decimal integer as a string, got 12.5',
      expect.stringMatching(/^line 3: not JSON: /),
      expect.stringMatching(/^line 4: bannerFile: there is no image /),
    ]);
    expect(recordOf(4)?.username).toBe('four');
    expect(recordOf(3)).toBeUndefined();
  });

  it('imports every valid line around one with deep nesting or terminal control characters', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const report = await importLines(dataDir, [
      catalogLine(1),
      deep,
      catalogLine(2).replace(/}$/, `,"links":${deep}}`),
      '{"title":"\u001b[2J',
      catalogLine(3),
    ]);
    expect(report).toMatchObject({ added: 2, refused: 3 });
    expect(report.refusals).toEqual([
      'line 2: must be a JSON object, got a list of 1',
      'line 3: links[0]: must be a JSON object, got a list of 1',
      expect.stringMatching(/^line 4: not JSON: [^\p{Cc}]{1,160}$/u),
    ]);
  });

  it('replaces a channel with the same ID under all its names', async () => {
    await importLines(dataDir, [catalogLine(1, { title: 'Old name', customUrl: '@old', subscriberCount: '5' })]);
    const report = await importLines(dataDir, [
      catalogLine(1, { title: 'New name', customUrl: '@new', subscriberCount: '7' }),
    ]);
    expect(report).toMatchObject({ added: 0, replaced: 1 });
    expect(titlesFound('old')).toEqual([]);
    expect(titlesFound('new')).toEqual(['New name']);
    expect(ask((reader) => reader.findRecord(handleRef('old')))).toBeUndefined();
  });

  it('uses the last of several lines with the same ID', async () => {
    const titles = ['First', 'Second', 'Third'];
    const report = await importLines(
      dataDir,
      titles.map((title, index) => catalogLine(1, { title, subscriberCount: String(index % 2) })),
    );
    expect(report).toMatchObject({ added: 1, replaced: 2 });
    expect(titles.flatMap((title) => titlesFound(title))).toEqual(['Third']);
  });

  it('can be run again and changes nothing', async () => {
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('a') });
    const lines = [catalogLine(1, { bannerFile: 'a.png' }), catalogLine(2)];
    await importLines(dataDir, lines, imagesFrom);
    const before = ask((reader) => [...reader.records()]);
    expect(await importLines(dataDir, lines, imagesFrom)).toMatchObject({ added: 0, replaced: 2, refused: 0 });
    expect(ask((reader) => [...reader.records()])).toEqual(before);
  });

  it('leaves a handle or user name, in any letter case, with the channel that had it first, and warns', async () => {
    const report = await importLines(dataDir, [
      catalogLine(1, { customUrl: '@Höhe', username: 'Hoehe' }),
      catalogLine(2, { customUrl: '@HÖHE' }),
      catalogLine(3, { username: 'HOEHE' }),
      catalogLine(1, { customUrl: '@höhe', username: 'hoehe' }),
    ]);
    const [one, two, three] = [1, 2, 3].map(numberedChannelId);
    expect(report.warnings).toEqual([
      `line 2: customUrl: @HÖHE leads to the channel ${one}, and is not stored for ${two}`,
      `line 3: username: HOEHE leads to the channel ${one}, and is not stored for ${three}`,
    ]);
    expect(report).toMatchObject({ added: 3, replaced: 1, refused: 0 });
    const handle = handleRef('höhe');
    expect(ask((reader) => reader.findRecord(handle))?.channelId).toBe(one);
    expect([recordOf(2)?.customUrl, recordOf(3)?.username]).toEqual([null, null]);
    // The first channel gives the handle away.
    await importLines(dataDir, [catalogLine(1), catalogLine(2, { customUrl: '@HÖHE' })]);
    expect(ask((reader) => reader.findRecord(handle))?.channelId).toBe(two);
  });

  it.each([
    ['a JSON array', "jq -c '.[]'", [`[${catalogLine(1)},`, `${catalogLine(2)}]`]],
    ['a JSON array', "jq -c '.[]'", [`[${Array.from({ length: 10_000 }, (_, at) => catalogLine(at))}]`]],
    ['not one JSON object', 'jq -c .', JSON.stringify(JSON.parse(catalogLine(1)), null, 2).split('\n')],
    ['not one JSON object', 'jq -c .', ['{"channels":[', catalogLine(1), ']}']],
    ['ends with a comma', 'without a comma after it', [`${catalogLine(1)},`, catalogLine(2)]],
    ['not JSON in UTF-8', 'docs/catalog.md', ['channelId,title', `${numberedChannelId(1)},One`]],
    ['not JSON in UTF-8', 'docs/catalog.md', [Buffer.from(`\ufeff${catalogLine(1)}\n${catalogLine(2)}`, 'utf16le')]],
    ['empty', 'one JSON object per line', ['', '  ', '']],
  ])('of a file that is %s has one message, and imports nothing (%s)', async (what, advice, lines) => {
    const importing = importLines(dataDir, lines);
    await expect(importing).rejects.toBeInstanceOf(NoNdjsonError);
    await expect(importing).rejects.toThrow(what);
    await expect(importing).rejects.toThrow(advice);
    expect(ask((reader) => [...reader.records()])).toEqual([]);
  });

  it('reports all mistakes of a line', async () => {
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('a') });
    const { refusals } = await importLines(
      dataDir,
      [catalogLine(1, { country: 'nl', viewCount: 5, bannerfile: 'a.png', icon: 1 })],
      imagesFrom,
    );
    expect(refusals).toEqual([
      'line 1: bannerfile, icon: no such fields; country: must be a country code of two capital letters, got "nl"; viewCount: must be a decimal integer as a string, got 5',
    ]);
  });

  it('leaves a channel unchanged when its new record or one of its new images is refused', async () => {
    const imagesFrom = await writeImages(dataDir, {
      'old.png': pngOf('old'),
      'new.png': pngOf('new'),
      'bad.png': Buffer.from('<svg></svg>....'),
    });
    await importLines(dataDir, [catalogLine(1, { title: 'Old', bannerFile: 'old.png' })], imagesFrom);
    const before = recordOf(1);
    const report = await importLines(
      dataDir,
      [catalogLine(1, { title: 'New', bannerFile: 'new.png', avatarFile: 'bad.png' })],
      imagesFrom,
    );
    expect(report.refusals).toEqual(['line 1: avatarFile: bad.png is not a JPEG, PNG, WebP, AVIF or GIF image']);
    expect(recordOf(1)).toEqual(before);
    expect(imagesIn()).toEqual([before?.bannerFile]);
  });

  it('refuses an image over 16 MiB', async () => {
    const imagesFrom = await writeImages(dataDir, {
      'big.png': Buffer.concat([pngOf(''), Buffer.alloc(16 * 1024 * 1024)]),
    });
    const report = await importLines(dataDir, [catalogLine(1, { avatarFile: 'big.png' })], imagesFrom);
    expect(report.refusals).toEqual([expect.stringMatching(/^line 1: avatarFile: .*at most 16777216 are allowed$/)]);
  });

  it('copies each image once, under a name made from its bytes', async () => {
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('same'), 'b.png': pngOf('same') });
    await importLines(dataDir, [catalogLine(1, { bannerFile: 'a.png', avatarFile: 'b.png' })], imagesFrom);
    const record = recordOf(1);
    expect(record?.bannerFile).toMatch(/^[0-9a-f]{32}\.png$/);
    expect(record?.avatarFile).toBe(record?.bannerFile);
    expect(await readFile(join(catalogPaths(dataDir).images, String(record?.bannerFile)))).toEqual(pngOf('same'));
  });

  it('removes images that no channel has any longer, and no other files', async () => {
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('a'), 'b.png': pngOf('b') });
    await importLines(
      dataDir,
      [catalogLine(1, { bannerFile: 'a.png' }), catalogLine(2, { bannerFile: 'a.png', avatarFile: 'b.png' })],
      imagesFrom,
    );
    await writeFile(join(catalogPaths(dataDir).images, 'README'), 'of the operator');
    await writeFile(join(catalogPaths(dataDir).images, `${'0'.repeat(32)}.png.01234567.tmp`), 'of a killed import');
    await importLines(dataDir, [catalogLine(2)]);
    expect(imagesIn()).toEqual(['README', recordOf(1)?.bannerFile].sort());
    const writer = openCatalogWriter(catalogPaths(dataDir));
    expect(writer.remove(numberedChannelId(1))).toBe(true);
    expect(writer.remove(numberedChannelId(1))).toBe(false);
    writer.removeLeftovers();
    writer.close();
    expect(imagesIn()).toEqual(['README']);
    expect(titlesFound('channel')).toEqual(['Channel 2']);
  });

  it('keeps nothing of a batch that failed', async () => {
    const paths = catalogPaths(dataDir);
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('a') });
    const writer = openCatalogWriter(paths);
    await writeFile(paths.images, 'not a folder');
    const records = [catalogLine(1), catalogLine(2, { bannerFile: 'a.png' })].map(parseRecord);
    expect(() => writer.putBatch(records, imagesFrom)).toThrow();
    await rm(paths.images);
    writer.removeLeftovers();
    writer.close();
    const db = new DatabaseSync(paths.database);
    expect(db.prepare("SELECT rowid FROM channel_text WHERE channel_text MATCH 'channel'").all()).toEqual([]);
    db.close();
  });

  it('finds unused images without reading all channels', async () => {
    await importLines(dataDir, [catalogLine(1)]);
    const db = new DatabaseSync(catalogPaths(dataDir).database);
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${IS_IMAGE_REFERENCED}`).all({ name: 'image' });
    db.close();
    expect(steps.filter(({ detail }) => /^SCAN/.test(String(detail)))).toEqual([]);
    expect(steps.filter(({ detail }) => /USING .*INDEX/.test(String(detail)))).toHaveLength(2);
  });

  it('gives a changed channel a later time, also if the clock was set back, and an unchanged one none', async () => {
    const images = await writeImages(dataDir, { 'a.png': pngOf('a') });
    const now = vi.spyOn(Date, 'now');
    onTestFinished(() => now.mockRestore());
    async function timeOfImport(title: string, atMs: number): Promise<unknown> {
      now.mockReturnValue(atMs);
      await importLines(dataDir, [catalogLine(1, { title, avatarFile: 'a.png' })], images);
      return ask((reader) => reader.findChannel(channelIdRef(numberedChannelId(1))))?.avatar;
    }
    expect(await timeOfImport('first', 50_000)).toMatchObject({ importedAtMs: 50_000 });
    expect(await timeOfImport('first', 60_000)).toMatchObject({ importedAtMs: 50_000 });
    expect(await timeOfImport('second', 70_000)).toMatchObject({ importedAtMs: 70_000 });
    expect(await timeOfImport('third', 10_000)).toMatchObject({ importedAtMs: 71_000 });
  });

  it('creates the tables in an empty database', async () => {
    await writeFile(catalogPaths(dataDir).database, '');
    expect(await importLines(dataDir, [catalogLine(1)])).toMatchObject({ added: 1 });
    expect(existsSync(catalogPaths(dataDir).images)).toBe(false);
  });

  it('creates a catalog without the log of a former one that was moved away', async () => {
    const { database } = catalogPaths(dataDir);
    await importLines(dataDir, [catalogLine(1)]);
    // Its reader, which cannot write, leaves the log.
    const service = openForReading(database);
    service.findRecord(channelIdRef(numberedChannelId(1)));
    await importLines(dataDir, [catalogLine(2)]);
    service.close();
    await rename(database, join(dataDir, 'damaged.db'));
    await importLines(dataDir, [catalogLine(3)]);
    expect(ask((reader) => [...reader.records()].map(({ channelId }) => channelId))).toEqual([numberedChannelId(3)]);
  });

  it('leaves a file that is no database unchanged', async () => {
    const { database } = catalogPaths(dataDir);
    await writeFile(database, 'a diary\n'.repeat(200));
    await expect(importLines(dataDir, [catalogLine(1)])).rejects.toThrow(/catalog\.db is damaged .*import your backup/);
    expect(await readFile(database, 'utf8')).toBe('a diary\n'.repeat(200));
  });

  it('that is aborted ends after a few images, and keeps their records', async () => {
    const imagesFrom = await writeImages(dataDir, { 'a.png': pngOf('a') });
    const lines = Array.from({ length: 100 }, (_, number) => catalogLine(number, { bannerFile: 'a.png' }));
    const stop = new AbortController();
    const report = await importLines(dataDir, lines, imagesFrom, {
      onProgress: () => stop.abort(),
      signal: stop.signal,
    });
    expect(report.added).toBeGreaterThan(0);
    expect(report.added).toBeLessThan(20);
    expect(report.lastLine).toBe(report.added);
    expect(ask((reader) => [...reader.records()])).toHaveLength(report.added);
    expect(recordOf(report.added - 1)?.bannerFile).toMatch(/^[0-9a-f]{32}\.png$/);
  });
});
