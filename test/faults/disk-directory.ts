import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createHttpSender, type HttpSender } from '../helpers/http-request.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import type { ServiceProcess } from '../helpers/service-process.ts';
import { comesTrue, type FaultContext, metricsOf, metricValue, stopService } from './context.ts';
import type { Outcome } from './report.ts';
import { statesOf } from './service-log.ts';

/** "nobody" on every Linux. */
const UNPRIVILEGED = 65_534;
const CHANNEL = 'UCreplayLighthouse000001';
const PARTS = ['pictures', 'cache'];
const RECOVERY_MS = 15_000;

interface DirectoryTrouble {
  readonly name: string;
  /** Before the service starts, as nobody in particular: root ignores file modes. Otherwise under the running service. */
  readonly isFromTheStart: boolean;
  make(dataDir: string): Promise<unknown>;
  mend(dataDir: string): Promise<unknown>;
}

const TROUBLES: readonly DirectoryTrouble[] = [
  {
    name: 'DATA_DIR not writable, by an unprivileged user',
    isFromTheStart: true,
    make: (dataDir) => mkdir(dataDir, { mode: 0o755 }),
    mend: (dataDir) => chown(dataDir, UNPRIVILEGED, UNPRIVILEGED),
  },
  {
    name: 'DATA_DIR that cannot be made, by an unprivileged user',
    isFromTheStart: true,
    make: async () => undefined,
    async mend(dataDir) {
      await mkdir(dataDir);
      await chown(dataDir, UNPRIVILEGED, UNPRIVILEGED);
    },
  },
  {
    name: 'DATA_DIR removed under the service',
    isFromTheStart: false,
    async make(dataDir) {
      // Moved first: a picture that is still being stored would appear in a folder that is being emptied.
      await rename(dataDir, `${dataDir}.gone`);
      await rm(`${dataDir}.gone`, { recursive: true });
    },
    // The service makes it anew.
    mend: async () => undefined,
  },
];

/** Without its directory the service goes on from memory and upstream, says so, and recovers. */
export async function denyTheDirectory(context: FaultContext): Promise<void> {
  for (const trouble of TROUBLES) {
    const obstacle = trouble.isFromTheStart ? findObstacle() : undefined;
    if (obstacle !== undefined) context.report.skip('disk', trouble.name, obstacle);
    else await context.measure('disk', trouble.name, () => serveWithout(context, trouble));
  }
}

/** Why the service cannot be started as the unprivileged user. */
function findObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can start a process as somebody else';
  const { error } = spawnSync(process.execPath, ['--version'], { uid: UNPRIVILEGED, gid: UNPRIVILEGED });
  return error === undefined ? undefined : 'that user may not read the directory that the project is in';
}

async function serveWithout(context: FaultContext, trouble: DirectoryTrouble): Promise<Outcome> {
  const directory = await context.newDirectory();
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  const replay = await startReplayServer();
  if (trouble.isFromTheStart) await trouble.make(dataDir);
  const service = await context.start({
    directory,
    env: youtubeSettings(replay.origin),
    ...(trouble.isFromTheStart && { uid: UNPRIVILEGED }),
  });
  const client = createHttpSender(service.port);
  const faults = await ask(client, 1);
  if (!trouble.isFromTheStart) await trouble.make(dataDir);
  faults.push(...(await ask(client, 5)));
  if (trouble.isFromTheStart) faults.push(...(await findUntold(service)));
  await trouble.mend(dataDir);
  if (!(await recovers(service, client))) faults.push('did not recover');
  for (const part of PARTS) {
    const { failed, recovered } = statesOf(service, part);
    if (failed > 1 || recovered !== failed) faults.push(`${part}: said ${failed} times to fail, ${recovered} to work`);
  }
  client.close();
  const exit = await stopService(service);
  if (exit !== 0) faults.push(`stopped with ${exit}`);
  await replay.close();
  const told = trouble.isFromTheStart ? '; said once for each part, and in a metric' : '';
  return { measured: `records, searches, pictures from upstream and memory${told}; recovered`, faults };
}

/** Records, searches and pictures, some of them new each time. */
async function ask(client: HttpSender, rounds: number): Promise<string[]> {
  const faults: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const own = 20 + Math.floor(Math.random() * 300);
    for (const url of [
      `/api/channel/${CHANNEL}?cb=${own}`,
      '/api/search?q=light',
      `/api/search?q=number${own}`,
      `/${CHANNEL}/tv.webp?width=${own}`,
      `/${CHANNEL}/avatar.png?width=50`,
    ]) {
      const { status } = await client.send({ url });
      if (status !== 200) faults.push(`${url} answered ${status}`);
    }
  }
  return faults;
}

async function findUntold(service: ServiceProcess): Promise<string[]> {
  const metrics = await metricsOf(service);
  return PARTS.flatMap((part) => {
    const isInMetric = metricValue(metrics, `pennant_part_degraded{part="${part}"}`) === 1;
    const { failed } = statesOf(service, part);
    return [
      ...(isInMetric ? [] : [`${part}: no metric tells it`]),
      ...(failed === 1 ? [] : [`${part}: said ${failed} times`]),
    ];
  });
}

function recovers(service: ServiceProcess, client: HttpSender): Promise<boolean> {
  return comesTrue(async () => {
    // What cannot be told from a write shows only at the next one.
    await ask(client, 1);
    return !(await metricsOf(service)).includes('pennant_part_degraded{');
  }, RECOVERY_MS);
}
