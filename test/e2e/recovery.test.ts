import { existsSync } from 'node:fs';
import { cp, link, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SHIPPED_SAMPLES_DIR } from '../../src/sources/catalog/catalog.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { WAIT } from '../helpers/wait.ts';

test('a condition ends a minute after its cause, although no client sends a request', async () => {
  const dataDir = await createDataDir();
  await cp(SHIPPED_SAMPLES_DIR, join(dataDir, 'catalog'), { recursive: true });
  const service = await startWithoutEncoder({
    env: { SOURCES: 'catalog,youtube' },
    dataDir,
    sources: [numberedSource()],
  });
  const path = (name: string) => join(service.dataDir, name);
  const conditions = async () => (await service.readiness()).conditions.map(({ name }) => name).toSorted();
  async function takeAway(name: string): Promise<void> {
    await expect.poll(() => existsSync(path(name))).toBe(true);
    // In one step, and by a link to a folder that does not exist, so that the service cannot create the file again.
    await link(path(name), path(`${name}.away`));
    await symlink(path('gone/file'), path(`${name}.link`));
    await rename(path(`${name}.link`), path(name));
    // The files are looked at once a second.
    service.clock.advance(5_000);
  }
  await takeAway('cache.db');
  await service.get(`/api/channel/${numberedChannelId(1)}`);
  await takeAway('catalog/channels.ndjson');
  await service.get('/api/search?q=pennant');
  await vi.waitFor(async () => expect(await conditions()).toEqual(['cache', 'catalog']), WAIT);

  for (const name of ['cache.db', 'catalog/channels.ndjson']) {
    await rename(path(`${name}.away`), path(name));
  }
  await vi.waitFor(async () => {
    service.clock.advance(60_000);
    // A write that began before may still fail.
    expect(await conditions()).toEqual([]);
  }, WAIT);
});
