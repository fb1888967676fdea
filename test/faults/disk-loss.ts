import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { comesTrue, type FaultContext, type FaultService, stopService } from './context.ts';
import { findFaultsOf } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findUnclearStates, isDegraded } from './service-checks.ts';

/** "nobody" on every Linux. */
const UNPRIVILEGED = 65_534;
const CHANNEL = 'UCreplayLighthouse000001';
const RECOVERY_MS = 15_000;
const FILLER = 'filler';
/** Width in pixels of the original upstream. An image is never enlarged. */
const BANNER_WIDTH = 320;

interface DiskFault {
  readonly name: string;
  readonly place: 'mounted disk' | 'directory';
  /** Whether the fault begins under the running service instead of before its start. */
  readonly isSudden: boolean;
  /** The components that a metric must report as degraded. */
  readonly degraded: readonly string[];
  break(dataDir: string): unknown;
  mend(dataDir: string): unknown;
}

const DISK_FAULTS: readonly DiskFault[] = [
  {
    name: 'a disk that fills up',
    place: 'mounted disk',
    isSudden: true,
    degraded: ['cache'],
    break: (disk) => fill(join(disk, FILLER)),
    mend: (disk) => rm(join(disk, FILLER)),
  },
  // Needs an unprivileged user, because root ignores file modes.
  {
    name: 'DATA_DIR not writable, by an unprivileged user',
    place: 'directory',
    isSudden: false,
    degraded: ['cache'],
    break: (dataDir) => mkdir(dataDir, { mode: 0o755 }),
    mend: (dataDir) => chown(dataDir, UNPRIVILEGED, UNPRIVILEGED),
  },
  {
    name: 'DATA_DIR removed under the service',
    place: 'directory',
    isSudden: true,
    degraded: [],
    async break(dataDir) {
      // Moved first, because an image that is still being stored would appear in a folder that is being emptied.
      await rename(dataDir, `${dataDir}.gone`);
      await rm(`${dataDir}.gone`, { recursive: true });
    },
    // The service creates it again.
    mend: async () => undefined,
  },
];

/** Without its disk the service continues from memory and upstream, reports it once, and recovers by itself. */
export async function loseTheDisk(context: FaultContext): Promise<void> {
  for (const fault of DISK_FAULTS) {
    const obstacle = findObstacle(fault);
    if (obstacle !== undefined) context.report.skip('disk', fault.name, obstacle);
    else await context.measure('disk', fault.name, () => prepare(context, fault));
  }
}

/** Why the fault cannot be caused here. */
function findObstacle({ place, isSudden }: DiskFault): string | undefined {
  if (place === 'directory' && isSudden) return undefined;
  if (process.getuid?.() !== 0) return 'only root can mount a disk, or start a process as somebody else';
  if (place === 'mounted disk') return canMount() ? undefined : 'mounting a disk takes more rights than this user has';
  const { error } = spawnSync(process.execPath, ['--version'], { uid: UNPRIVILEGED, gid: UNPRIVILEGED });
  return error === undefined ? undefined : 'that user may not read the directory that the project is in';
}

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'pennant-faults-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'none', directory]).status === 0;
  if (isMounted) execFileSync('umount', [directory]);
  rmdirSync(directory);
  return isMounted;
}

async function prepare(context: FaultContext, fault: DiskFault): Promise<Outcome> {
  const directory = await context.newDirectory();
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  if (fault.place === 'directory') return serveWithout(context, fault, directory);
  await mkdir(dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'none', dataDir]);
  const unmount = () => execFileSync('umount', ['-l', dataDir]);
  // A signal ends the suite without the lines below.
  process.once('exit', unmount);
  try {
    return await serveWithout(context, fault, directory);
  } finally {
    process.off('exit', unmount);
    unmount();
  }
}

async function serveWithout(context: FaultContext, fault: DiskFault, directory: string): Promise<Outcome> {
  const dataDir = join(directory, 'data');
  const replay = await startReplayServer();
  if (!fault.isSudden) await fault.break(dataDir);
  const service = await context.start({
    directory,
    env: youtubeSettings(replay.origin),
    ...(fault.place === 'directory' && !fault.isSudden && { uid: UNPRIVILEGED }),
  });
  const ask = (rounds: number) => askForAll(service, rounds);
  const faults = await ask(2);
  if (fault.isSudden) await fault.break(dataDir);
  faults.push(...(await ask(5)));
  for (const part of fault.degraded) {
    if (!(await isDegraded(service, part))) faults.push(`${part}: not in the metrics`);
  }
  await fault.mend(dataDir);
  const isMended = await comesTrue(async () => {
    // A failed write is reported only with the next one.
    faults.push(...(await ask(1)));
    return !(await isDegraded(service));
  }, RECOVERY_MS);
  if (!isMended) faults.push('did not recover');
  // The log is complete when the process has ended; the metrics are read through another channel.
  faults.push(...(await stopService(service)), ...findUnclearStates(service, fault.degraded));
  await replay.close();
  const reported = fault.degraded.length > 0 ? '; reported once for each part, and in a metric' : '';
  return { measured: `records, searches, images from upstream and memory${reported}; recovered`, faults };
}

/** Records, searches and images. Most are new each time and must be written. */
function askForAll({ client }: FaultService, rounds: number): Promise<string[]> {
  return findFaultsOf(client, Array.from({ length: rounds }, newUrls).flat());
}

function newUrls(): string[] {
  const ownSize = () => 20 + Math.floor(Math.random() * (BANNER_WIDTH - 20));
  return [
    `/api/channel/${CHANNEL}?cb=${ownSize()}`,
    '/api/search?q=light',
    `/api/search?q=number${ownSize()}`,
    ...['webp', 'png', 'jpg', 'avif'].map((format) => `/${CHANNEL}/tv.${format}?width=${ownSize()}`),
    `/${CHANNEL}/avatar.png?width=50`,
  ];
}

async function fill(path: string): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024);
  try {
    for (;;) await writeFile(path, chunk, { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
