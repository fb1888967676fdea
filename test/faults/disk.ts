import { randomBytes } from 'node:crypto';
import { rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { type FaultContext, type FaultService, type Subject, stopService } from './context.ts';
import { findChangedRecords, findFaultsOf, readRecords } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findEmptySamples } from './response-faults.ts';
import { integrityOf, logOf } from './service-checks.ts';

const BASE_URL = 'https://pennant.example';

type Damage = (path: string) => Promise<void>;

const DAMAGES: Readonly<Record<string, Damage>> = {
  'replaced by garbage': async (path) => {
    await writeFile(`${path}.new`, randomBytes(100_000));
    await rename(`${path}.new`, path);
  },
  deleted: (path) => rm(path),
  'cut to 100 bytes': (path) => truncate(path, 100),
  'replaced by text': async (path) => {
    await rm(path);
    await writeFile(path, 'this was a cache');
  },
};

/** `cache.db` is disposable. It is damaged under the running service and before a start. */
export const disk: Subject = {
  name: 'disk',
  run: (context) => context.measure('disk', 'cache.db damaged', () => damageTheCache(context)),
};

async function damageTheCache(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const path = join(directory, 'data', 'cache.db');
  const replay = await startReplayServer();
  const env = { ...youtubeSettings(replay.origin), SOURCES: 'catalog,youtube', BASE_URL };
  let service = await context.start({ directory, env });
  const reference = await readRecords(service.client);
  const faults: string[] = [];
  for (const [what, damage] of Object.entries(DAMAGES)) {
    faults.push(...(await findWrongResponses(service, reference, 5)).map((fault) => `before ${what}: ${fault}`));
    await damage(path);
    // Longer than the interval in which the service checks its file.
    await sleep(1_200);
    faults.push(...(await findWrongResponses(service, reference, 20)).map((fault) => `${what}: ${fault}`));
    const check = integrityOf(path);
    if (check !== 'ok') faults.push(`${what}: ${check}`);
  }
  // Equal lines within a minute are logged once.
  const rebuilt = logOf(service).filter(({ kind }) => kind === 'rebuilt').length;
  faults.push(...findEmptySamples({ rebuilds: rebuilt }), ...(await stopService(service)));
  await writeFile(path, randomBytes(50_000));
  service = await context.start({ directory, env });
  faults.push(...(await findWrongResponses(service, reference, 5)).map((fault) => `garbage at the start: ${fault}`));
  await replay.close();
  const measured = `${Object.keys(DAMAGES).length} kinds under load, garbage at the start: rebuilt, ${rebuilt} times in the log; every response right, sound files`;
  return { measured, faults };
}

/** New searches read the store each time. Records come from memory too. */
async function findWrongResponses(
  { client }: FaultService,
  reference: ReadonlyMap<string, string>,
  count: number,
): Promise<string[]> {
  const searches = Array.from({ length: count }, () => `/api/search?q=${randomBytes(6).toString('hex')}`);
  const faults = await Promise.all([findFaultsOf(client, searches), findChangedRecords(client, reference)]);
  return faults.flat();
}
