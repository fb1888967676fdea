import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { type CatalogPosition, type ChangesSince, createCatalogWatch } from './change-log.ts';
import { createCatalog } from './import.ts';
import { catalogPaths } from './schema.ts';

const clock = createManualClock();
let dataDir: string;
beforeEach(async () => {
  dataDir = await createTemporaryDirectory();
});

interface Watch {
  /** In a separate turn of the event loop. */
  findChanges(): Promise<ChangesSince | undefined>;
}

function open(start?: CatalogPosition): Watch {
  let found: ChangesSince | undefined;
  const path = catalogPaths(dataDir).database;
  const watch = createCatalogWatch({ path, clock, start, onChanges: (changes) => (found = changes) });
  onTestFinished(() => watch.close());
  return {
    async findChanges() {
      await nextTurn();
      found = undefined;
      watch.check();
      return found;
    },
  };
}

async function put(number: number, title = 'a title'): Promise<void> {
  expect((await importLines(dataDir, [catalogLine(number, { title })])).refusals).toEqual([]);
}

/** The numbers of the changed channels. */
async function found(watch: Watch): Promise<unknown> {
  const changes = (await watch.findChanges())?.changes;
  return changes === undefined || changes === 'unknown' ? changes : changes.map(({ channelId }) => channelId);
}

/** A thread that locks the catalog, and unlocks it 100 ms after the returned function was called. */
async function lockInThread(): Promise<() => void> {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(
    `const { DatabaseSync } = require('node:sqlite');
    const { parentPort, workerData: { path, signal } } = require('node:worker_threads');
    const db = new DatabaseSync(path);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    parentPort.postMessage('locked');
    Atomics.wait(signal, 0, 0);
    Atomics.wait(signal, 0, 1, 100);
    db.close();`,
    { eval: true, workerData: { path: catalogPaths(dataDir).database, signal } },
  );
  onTestFinished(async () => {
    await thread.terminate();
  });
  await once(thread, 'message');
  return () => {
    signal[0] = 1;
    Atomics.notify(signal, 0);
  };
}

describe('a catalog that is watched', () => {
  it('is read at the start even if another thread or process is just opening it', async () => {
    await put(1);
    const changes: ChangesSince['changes'][] = [];
    const watch = createCatalogWatch({
      path: catalogPaths(dataDir).database,
      clock,
      start: undefined,
      onChanges: (found) => changes.push(found.changes),
    });
    onTestFinished(() => watch.close());
    const unlock = await lockInThread();
    unlock();
    watch.start();
    expect(changes).toHaveLength(1);
  });

  it('reports changes of other processes immediately and once', async () => {
    await put(1);
    const watch = open();
    expect([await found(watch), await found(watch)]).toEqual([[numberedChannelId(1)], undefined]);
    await put(2);
    expect([await found(watch), await found(watch)]).toEqual([[numberedChannelId(2)], undefined]);
    await put(3);
    await put(1, 'another title');
    expect(await found(watch)).toEqual([numberedChannelId(3), numberedChannelId(1)]);
  });

  it('reports changes since an earlier run', async () => {
    await put(1);
    const position = (await open().findChanges())?.position;
    await put(2);
    expect(await found(open(position))).toEqual([numberedChannelId(2)]);
  });

  it('may be created later', async () => {
    const watch = open();
    expect(await found(watch)).toBeUndefined();
    await put(1);
    expect(await found(watch)).toEqual([numberedChannelId(1)]);
  });

  it('that a start created with the samples has no changes, and reports later ones', async () => {
    const watch = open();
    expect(await found(watch)).toBeUndefined();
    await createCatalog({ dataDir, samplesDir: SHIPPED_SAMPLES_DIR });
    expect((await found(watch)) ?? []).toEqual([]);
    await put(1);
    expect(await found(watch)).toEqual([numberedChannelId(1)]);
  });

  it('reports a change of everything after its file was replaced', async () => {
    await put(1);
    const watch = open();
    await watch.findChanges();
    const otherDir = await createTemporaryDirectory();
    await importLines(otherDir, [catalogLine(1, { title: 'restored' })]);
    await rename(catalogPaths(otherDir).database, catalogPaths(dataDir).database);
    clock.advance(1_000);
    expect([await found(watch), await found(watch)]).toEqual(['unknown', undefined]);
  });

  it('is read again a second after it was unusable', async () => {
    const { database } = catalogPaths(dataDir);
    await writeFile(database, 'this is no database, and long enough to be looked at');
    const watch = open();
    expect(await found(watch)).toBeUndefined();
    await rm(database);
    await put(1);
    expect(await found(watch)).toBeUndefined();
    clock.advance(1_000);
    expect(await found(watch)).toEqual([numberedChannelId(1)]);
  });
});
