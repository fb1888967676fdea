import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender } from '../helpers/http-request.ts';
import { OWN_ANSWERS, readAnswers } from '../helpers/replay-answers.ts';
import { startReplayServer } from '../helpers/replay-server.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { youtubeSettings } from '../helpers/youtube-service.ts';
import { comesTrue, type FaultContext, metricsOf, metricValue, stopService } from './context.ts';
import { freshPictureUrl, startMixedLoad } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { statesOf } from './service-log.ts';

/** "nobody" on every Linux. */
const UNPRIVILEGED = 65_534;
/** Pixels across: a few of these fill the quota. */
const LARGE = { from: 500, to: 1_200 };
const QUOTA_BYTES = 1024 * 1024;

/** A data directory that the service's user may not write to: root ignores file modes, so somebody else is needed. */
export async function denyTheDirectory(context: FaultContext): Promise<void> {
  const name = 'DATA_DIR not writable, by an unprivileged user';
  if (process.getuid?.() === 0) await context.measure('disk', name, () => serveWithoutRights(context));
  else context.report.skip('disk', name, 'only root can start a process as somebody else');
}

async function serveWithoutRights(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const dataDir = join(directory, 'data');
  await mkdir(dataDir);
  for (const path of [directory, dataDir]) await chmod(path, 0o755);
  const bytes = await drawTestCard({ width: 320, height: 180 }).png().toBuffer();
  const replay = await startReplayServer({
    answers: readAnswers(OWN_ANSWERS),
    findImage: () => ({ contentType: 'image/png', bytes }),
  });
  const faults: string[] = [];
  const service = await context.start({ directory, uid: UNPRIVILEGED, env: youtubeSettings(replay.origin) });
  const client = createHttpSender(service.port);
  const channel = 'UCreplayLighthouse000001';
  const urls = [
    `/api/channel/${channel}`,
    '/api/search?q=light',
    `/${channel}/tv.webp`,
    `/${channel}/avatar.png?width=50`,
  ];
  for (let round = 0; round < 5; round += 1) {
    for (const url of urls) {
      const { status } = await client.send({
        url: round < 2 ? url : `${url}${url.includes('?') ? '&' : '?'}cb=${round}`,
      });
      if (status !== 200) faults.push(`${url} answered ${status}`);
    }
  }
  const metrics = await metricsOf(service);
  for (const part of ['pictures', 'cache']) {
    if (metricValue(metrics, `pennant_part_degraded{part="${part}"}`) !== 1) faults.push(`${part}: no metric tells it`);
    if (statesOf(service, part).failed !== 1) faults.push(`${part}: said ${statesOf(service, part).failed} times`);
  }
  await chown(dataDir, UNPRIVILEGED, UNPRIVILEGED);
  const isMended = await comesTrue(async () => {
    // Something new for either part: what cannot be told from a write shows only at the next one.
    const number = Math.floor(Math.random() * 200);
    await client.send({ url: `/${channel}/tv.webp?width=${20 + number}` });
    await client.send({ url: `/api/search?q=number${number}` });
    return !(await metricsOf(service)).includes('pennant_part_degraded{');
  }, 15_000);
  if (!isMended) faults.push('did not recover');
  client.close();
  const exit = await stopService(service);
  if (exit !== 0) faults.push(`stopped with ${exit}`);
  await replay.close();
  const measured =
    'records, searches, pictures from upstream and memory; said once for each part, and in a metric; recovered';
  return { measured, faults };
}

/** A directory that is not there is made, with all above it. */
export async function removeTheDirectory(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const service = await context.start({ directory, env: { DATA_DIR: join(directory, 'not', 'yet', 'there') } });
  const { status } = await fetch(`${service.base}/api/channel/pennantsample?type=handle`);
  const faults = status === 200 ? [] : [`answered ${status}`];
  return { measured: 'made, with the folders above it', faults };
}

/** Pictures of ever new sizes, several times as many bytes as may be kept. */
export async function exceedTheQuota(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const service = await context.start({ directory, env: { IMAGE_CACHE_BYTES: String(QUOTA_BYTES) } });
  const client = createHttpSender(service.port);
  const faults: string[] = [];
  let most = 0;
  let written = 0;
  const rounds = context.isLong ? 200 : 10;
  for (let round = 0; round < rounds; round += 1) {
    const asked = Array.from({ length: 8 }, () => client.send({ url: freshPictureUrl(LARGE) }));
    for (const { bytes } of await Promise.all(asked)) written += bytes.length;
    most = Math.max(most, await bytesBelow(join(directory, 'data', 'pictures')));
  }
  client.close();
  if (most > QUOTA_BYTES) faults.push(`${most} bytes were kept, more than ${QUOTA_BYTES}`);
  return { measured: `${mebibytes(written)} MiB made, at most ${mebibytes(most)} of 1 MiB kept`, faults };
}

/** By accident, or on purpose: the same directory for two services. */
export async function shareTheDirectory(context: FaultContext): Promise<Outcome> {
  const directory = await context.newDirectory();
  const services = await Promise.all([context.start({ directory }), context.start({ directory })]);
  const loads = services.map(({ port }) => startMixedLoad(port));
  await sleep(context.attackMs / 2);
  for (const load of loads) await load.stop();
  const faults = loads.flatMap((load) => load.faults);
  const exits = await Promise.all(services.map(stopService));
  if (exits.some((exit) => exit !== 0)) faults.push(`stopped with ${exits.join(' and ')}`);
  const db = new DatabaseSync(join(directory, 'data', 'cache.db'));
  const integrity = db.prepare('PRAGMA integrity_check').get()?.integrity_check;
  db.close();
  if (integrity !== 'ok') faults.push(`cache.db: ${integrity}`);
  const complaints = services.flatMap((service) => [
    statesOf(service, 'cache').failed,
    statesOf(service, 'pictures').failed,
  ]);
  if (complaints.some((count) => count > 0)) faults.push(`a part failed: ${complaints.join(', ')}`);
  const answers = loads.reduce((sum, load) => sum + load.answers, 0);
  return { measured: `works: ${answers} answers`, faults };
}

async function bytesBelow(directory: string): Promise<number> {
  const paths = await readdir(directory, { recursive: true });
  const sizes = paths.map(async (path) => {
    const found = await stat(join(directory, path)).catch(() => undefined);
    return found?.isFile() === true ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
