import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHttpSender } from '../helpers/http-request.ts';
import type { ServiceOptions, ServiceProcess } from '../helpers/service-process.ts';
import { comesTrue, type FaultContext, metricsOf, metricValue, stopService } from './context.ts';
import { findPictureFault, freshPictureUrl, RECORD_URLS } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { statesOf } from './service-log.ts';

const PICTURES_DEGRADED = 'pennant_part_degraded{part="pictures"}';
const FILLER = 'filler';

/** A disk that fills up under the service, and one that is read-only when it starts; both are put right again. */
export async function loseTheDisk(context: FaultContext): Promise<void> {
  const directory = await context.newDirectory();
  const disk = join(directory, 'disk');
  await mkdir(disk);
  if (!mounted('-t', 'tmpfs', '-o', 'size=24m', 'none', disk)) {
    for (const what of Object.keys(DISK_FAULTS)) {
      context.report.skip('disk', what, 'mounting a disk takes more rights than this user has');
    }
    return;
  }
  const unmount = () => execFileSync('umount', ['-l', disk]);
  // A signal ends the suite without going through what follows.
  process.once('exit', unmount);
  try {
    for (const [what, fault] of Object.entries(DISK_FAULTS)) {
      await context.measure('disk', what, () => serveOn(context, { directory, env: { DATA_DIR: disk } }, disk, fault));
    }
  } finally {
    await context.cleanUpServices();
    process.off('exit', unmount);
    unmount();
  }
}

interface DiskFault {
  /** Whether the disk breaks under the running service, or before it starts. */
  readonly isSudden: boolean;
  break(disk: string): Promise<void> | void;
  mend(disk: string): Promise<void> | void;
}

const DISK_FAULTS: Readonly<Record<string, DiskFault>> = {
  'a disk that fills up': {
    isSudden: true,
    break: (disk) => fill(join(disk, FILLER)),
    mend: (disk) => rm(join(disk, FILLER)),
  },
  'a disk that is read-only': {
    isSudden: false,
    break: (disk) => remount(disk, 'ro'),
    mend: (disk) => remount(disk, 'rw'),
  },
};

async function serveOn(
  context: FaultContext,
  options: ServiceOptions,
  disk: string,
  fault: DiskFault,
): Promise<Outcome> {
  if (!fault.isSudden) await fault.break(disk);
  const service = await context.start(options);
  const faults: string[] = [];
  if (fault.isSudden) {
    faults.push(...(await askForPictures(service, 5)));
    await fault.break(disk);
  }
  faults.push(...(await askForPictures(service, 30)));
  if (metricValue(await metricsOf(service), PICTURES_DEGRADED) !== 1) faults.push('no metric tells it');
  await fault.mend(disk);
  const isMended = await comesTrue(async () => {
    faults.push(...(await askForPictures(service, 1)));
    return !(await metricsOf(service)).includes('pennant_part_degraded{');
  }, 15_000);
  if (!isMended) faults.push('did not recover');
  for (const part of ['pictures', 'cache']) {
    const { failed, recovered } = statesOf(service, part);
    if (failed > 1 || recovered !== failed) faults.push(`${part}: said ${failed} times to fail, ${recovered} to work`);
  }
  const exit = await stopService(service);
  if (exit !== 0) faults.push(`stopped with ${exit}`);
  return { measured: 'new pictures and records all answered; said once, and in a metric; recovered by itself', faults };
}

/** New pictures, which have to be written, and all records. */
async function askForPictures({ port }: ServiceProcess, count: number): Promise<string[]> {
  const client = createHttpSender(port);
  const pictures = Array.from({ length: count }, () => freshPictureUrl());
  const checks = [...pictures.map(async (url) => findPictureFault(url, await client.send({ url })))];
  const records = RECORD_URLS.map(async (url) => {
    const { status } = await client.send({ url });
    return status === 200 ? undefined : `${url} answered ${status}`;
  });
  const faults = await Promise.all([...checks, ...records]);
  client.close();
  // A channel without a banner or an avatar is one of the samples.
  return faults.filter((fault) => fault !== undefined && !fault.endsWith('answered 404')) as string[];
}

async function fill(path: string): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024);
  try {
    for (;;) await writeFile(path, chunk, { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

function remount(disk: string, mode: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,${mode}`, disk]);
}

function mounted(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
