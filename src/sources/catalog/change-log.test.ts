import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { type CatalogPosition, type ChangesSince, readChangesSince } from './change-log.ts';
import { catalogPaths } from './schema.ts';
import { openCatalogWriter } from './writer.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
});

function read(since?: CatalogPosition): ChangesSince | undefined {
  const db = new DatabaseSync(catalogPaths(dataDir).database, { readOnly: true });
  try {
    return readChangesSince(db, since);
  } finally {
    db.close();
  }
}

async function importAll(...lines: string[]): Promise<void> {
  expect((await importLines(dataDir, lines)).refusals).toEqual([]);
}

function remove(channelId: string): void {
  const writer = openCatalogWriter(catalogPaths(dataDir));
  writer.remove(channelId);
  writer.close();
}

describe('the log of a catalog’s changes', () => {
  it('has channels that were added, replaced and removed, with their names before and after', async () => {
    await importAll(catalogLine(1, { customUrl: '@One' }), catalogLine(2, { customUrl: null, username: 'Two' }));
    const first = read();
    expect(first?.changes).toEqual([
      { channelId: numberedChannelId(1), names: ['handle:one'], isRemoved: false },
      { channelId: numberedChannelId(2), names: ['username:two'], isRemoved: false },
    ]);
    await importAll(catalogLine(1, { customUrl: '@Uno' }));
    remove(numberedChannelId(2));
    const second = read(first?.position);
    expect(second?.changes).toEqual([
      { channelId: numberedChannelId(1), names: ['handle:one', 'handle:uno'], isRemoved: false },
      { channelId: numberedChannelId(2), names: ['username:two'], isRemoved: true },
    ]);
    expect(read(second?.position)?.changes).toEqual([]);
  });

  it('omits a channel that is imported unchanged', async () => {
    const lines = [catalogLine(1, { links: [{ title: 'x', url: 'https://pennant.example' }] }), catalogLine(2)];
    await importAll(...lines);
    const position = read()?.position;
    await importAll(...lines);
    expect(read(position)).toEqual({ position, changes: [] });
  });

  it('omits refused lines and removals of absent channels', async () => {
    await importAll(catalogLine(1, { customUrl: '@One' }));
    const position = read()?.position;
    expect((await importLines(dataDir, [catalogLine(2, { country: 'nl' })])).refusals).toHaveLength(1);
    remove(numberedChannelId(3));
    expect(read(position)).toEqual({ position, changes: [] });
  });

  it('reports unknown changes after it was truncated, and for another catalog', async () => {
    await importAll(catalogLine(1));
    const position = read()?.position as CatalogPosition;
    const many = Array.from({ length: 10_000 }, (_, number) => catalogLine(number + 2));
    await importAll(...many);
    expect(read(position)?.changes).toHaveLength(10_000);
    await importAll(catalogLine(20_000));
    expect([read(position)?.changes, read()?.changes]).toEqual(['unknown', 'unknown']);
    expect(read({ ...position, sequence: 2 })?.changes).toHaveLength(10_000);
    expect(read({ ...position, id: 'abc' })?.changes).toBe('unknown');
    expect(read({ ...position, sequence: 99_999 })?.changes).toBe('unknown');
  });
});
