import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInstalled } from '../helpers/installed.ts';
import { PROGRAM } from '../helpers/process.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { type FaultContext, stopService } from './context.ts';
import { startMixedLoad } from './mixed-load.ts';
import { startProbe } from './probe.ts';
import { type Outcome, percentile } from './report.ts';
import { findEmptySamples } from './response-faults.ts';

/** Each read, write and flush takes this long. */
const SLOW_MS = 50;
const HANGING_MS = 15_000;
const HOT_URL = '/api/channel/UCreplayLighthouse000001';

/** Both databases of what is fetched, with their logs. The catalog is only read, from the kernel's cache. */
const DATABASES = ['cache.db', 'cache.db-wal', 'images.db', 'images.db-wal'];
const CALLS = 'pread64,pwrite64,fsync,fdatasync';

/** A slow disk delays what needs it. It costs no response, and what is in memory does not wait for it. */
export async function slowDownTheDisk(context: FaultContext): Promise<void> {
  await attack(context, 'a slow disk', SLOW_MS);
  // `image-store.test.ts` and `purges.test.ts` show the same in the short form.
  if (context.isLong) await attack(context, 'a disk that does not respond', HANGING_MS);
}

async function attack(context: FaultContext, name: string, delayMs: number): Promise<void> {
  if (!isInstalled('strace', name)) context.report.skip('disk', name, 'strace is not installed');
  else await context.measure('disk', name, () => serveFromASlowDisk(context, delayMs));
}

async function serveFromASlowDisk(context: FaultContext, delayMs: number): Promise<Outcome> {
  const directory = await context.newDirectory();
  const replay = await startReplayServer();
  const env = { ...youtubeSettings(replay.origin), SOURCES: 'catalog,youtube' };
  const calls = join(directory, 'calls');
  const service = await context.start({
    directory,
    env,
    program: [...delayed(directory, calls, delayMs), process.execPath, PROGRAM],
  });
  // From here on it is in memory.
  await service.client.send({ url: HOT_URL });
  const load = startMixedLoad(service.port);
  const probe = startProbe(service, [HOT_URL]);
  await sleep(context.attackMs);
  const { latenciesMs, faults: lost } = await probe.stop();
  await load.stop();
  const faults = [...lost, ...load.faults, ...(await stopService(service))];
  await replay.close();
  const delays = (await readFile(calls, 'utf8')).split('\n').length - 1;
  faults.push(...findEmptySamples({ 'delayed calls': delays, images: load.imageUrls.length }));
  const median = percentile(latenciesMs, 0.5);
  return {
    measured: `${load.responses} responses, all right, beside ${delays} calls delayed by ${delayMs} ms; a hot record: median ${median.toFixed(0)} ms`,
    faults,
    exceeded: [
      ...load.overloads,
      ...(median < SLOW_MS ? [] : [`a hot record took ${median.toFixed(0)} ms: it waits for the disk`]),
    ],
  };
}

/** Runs the service as a child whose system calls on the databases are delayed. @param log has a line for each of them */
function delayed(directory: string, log: string, delayMs: number): readonly string[] {
  const paths = DATABASES.flatMap((name) => ['-P', join(directory, 'data', name)]);
  const injected = ['-e', `trace=${CALLS}`, '-e', `inject=${CALLS}:delay_enter=${delayMs}ms`];
  // With -D the service, and not strace, is the process that was started.
  return ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', log, ...paths, ...injected];
}
