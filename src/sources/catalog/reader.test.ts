import { DatabaseSync, StatementSync } from 'node:sqlite';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { channelRefsOf } from '../../domain/pasted.ts';
import { type CatalogReader, openForReading } from './reader.ts';
import { catalogPaths } from './schema.ts';

const [FIRST, SECOND] = [numberedChannelId(1), numberedChannelId(2)];

let path: string;
let catalog: CatalogReader;

beforeEach(async () => {
  const directory = await createTemporaryDirectory();
  path = catalogPaths(directory).database;
  await importLines(directory, [
    catalogLine(1, { title: 'Apple', customUrl: '@apple', subscriberCount: '20' }),
    catalogLine(2, { title: 'Pear', customUrl: '@pear', subscriberCount: '10' }),
  ]);
  catalog = openForReading(path) as CatalogReader;
  onTestFinished(() => catalog.close());
});

/** While the reader works, an import gives each channel's row to the other one. */
function swapRowsAfterFirstStatement(): void {
  const { get } = StatementSync.prototype;
  const spy = vi.spyOn(StatementSync.prototype, 'get').mockImplementation(function (this: StatementSync, ...given) {
    const result = get.apply(this, given);
    spy.mockRestore();
    const db = new DatabaseSync(path);
    const [low, high] = db.prepare('SELECT row FROM channels ORDER BY row').all();
    const move = db.prepare('UPDATE channels SET row = ? WHERE row = ?');
    move.run(-1, Number(low?.row));
    move.run(Number(low?.row), Number(high?.row));
    move.run(Number(high?.row), -1);
    db.close();
    return result;
  });
  onTestFinished(() => spy.mockRestore());
}

test('a channel that an import moves during its lookup is found', () => {
  const [handle] = channelRefsOf('@apple');
  if (handle === undefined) throw new Error('@apple is a handle');
  swapRowsAfterFirstStatement();
  expect(catalog.findRecord(handle)?.channelId).toBe(FIRST);
  expect(catalog.findRecord(handle)?.channelId).toBe(FIRST);
});

test('a search that runs during an import returns the channels that match', () => {
  swapRowsAfterFirstStatement();
  expect(catalog.search('@pear', 1).map(({ channelId }) => channelId)).toEqual([SECOND]);
});
