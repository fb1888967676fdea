import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpSender } from '../helpers/http-request.ts';
import type { ServiceProcess } from '../helpers/process.ts';
import { youtubeSettings } from '../helpers/replay-server.ts';
import { TRUSTED } from './bystanders.ts';
import { comesTrue, type FaultContext, type Subject, stopService } from './context.ts';
import { findFaultsOf } from './mixed-load.ts';
import { numberedChannelId, startNumberedUpstream } from './numbered-upstream.ts';
import { HOT_URLS } from './probe.ts';
import type { Outcome } from './report.ts';
import { hasRetryAfter } from './response-faults.ts';

const LIBRARIES = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`);
const NAME = 'the system clock jumps by 5 hours, forward and back';
const WINDOW_SECONDS = 10;
const READY_MS = 15_000;

/** Changes the system clock and suspends the process. */
export const time: Subject = {
  name: 'time',
  async run(context) {
    const library = LIBRARIES.find((path) => existsSync(path));
    const seconds = context.isLong ? 60 : 6;
    // Both mostly wait.
    const suspended = context.measure('time', `the process is suspended for ${seconds} s`, () =>
      suspend(context, seconds),
    );
    if (library === undefined) context.report.skip('time', NAME, 'libfaketime is not installed');
    else {
      const upstream = await startNumberedUpstream();
      await context.measure('time', NAME, () => jumpTheClock(context, library, upstream.origin));
      await upstream.close();
    }
    await suspended;
  },
};

/** A fetched record: those of the catalog are never old. */
const RECORD = `/api/channel/${numberedChannelId('r', 1)}`;

async function jumpTheClock(context: FaultContext, library: string, origin: string): Promise<Outcome> {
  const directory = await context.newDirectory();
  const clockFile = join(directory, 'clock');
  const setClock = async (offset: string) => {
    await writeFile(clockFile, offset);
    // The server updates the Date of its responses once a second.
    await sleep(1_100);
  };
  await setClock('+0');
  const env = {
    ...youtubeSettings(origin),
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    ...TRUSTED,
    RATE_LIMIT_OVERRIDES: `10.0.0.1/32=5/${WINDOW_SECONDS}`,
    RATE_LIMIT: '100000/1',
  };
  const faults: string[] = [];
  let service = await context.start({ directory, env });
  const restart = async () => {
    await stopService(service);
    service = await context.start({ directory, env });
  };

  await service.client.send({ url: RECORD });
  const spentAtMs = performance.now();
  for (let count = 0; count < 5; count += 1) await askAsLimited(service.client);
  for (const offset of ['+5h', '-5h', '+0']) {
    await setClock(offset);
    const { status, headers } = await askAsLimited(service.client);
    if (status !== 429) faults.push(`clock ${offset}: a limited client got ${status}`);
    const isWait = hasRetryAfter({ headers }) && Number(headers['retry-after']) <= WINDOW_SECONDS;
    if (!isWait) faults.push(`clock ${offset}: Retry-After ${headers['retry-after']}`);
    if (!hasMoved(headers.date, offset)) faults.push(`clock ${offset}: not taken over, nothing was tested`);
    // A clock set forward makes the record stale, so it is loaded again. A clock set back makes nothing younger.
    const expected = offset === '+5h' ? /^pennant; fwd=stale/ : /^pennant; hit; ttl=\d/;
    const record = await service.client.send({ url: RECORD });
    if (record.status !== 200 || !expected.test(String(record.headers['cache-status']))) {
      faults.push(`clock ${offset}: a record of this hour said ${record.headers['cache-status']}`);
    }
  }
  await setClock('+5h');
  await sleep(Math.max(0, spentAtMs + (WINDOW_SECONDS + 1) * 1_000 - performance.now()));
  if ((await askAsLimited(service.client)).status !== 200) faults.push('still limited after the window');

  for (const [offset, why] of [
    ['-5h', 'an entry from the future'],
    ['+5h', 'an entry of five hours ago'],
  ] as const) {
    await setClock(offset);
    await restart();
    const { status, headers } = await service.client.send({ url: RECORD });
    const isAnew = /^pennant; fwd=stale/.test(String(headers['cache-status']));
    if (status !== 200 || !isAnew) faults.push(`${why}: ${status}, ${headers['cache-status']}`);
  }
  const measured =
    'limits held, records as old as they may be; after a restart an entry from the future and one too old were loaded anew';
  return { measured, faults };
}

function askAsLimited(client: HttpSender) {
  return client.send({ url: '/problems', headers: { 'x-forwarded-for': '10.0.0.1' } });
}

const MINUTE_MS = 60_000;

function hasMoved(date: string | undefined, offset: string): boolean {
  const movedMs = Date.parse(date ?? '') - Date.now();
  const expectedMs = Number(offset.replace('h', '')) * 60 * MINUTE_MS;
  return Math.abs(movedMs - expectedMs) < MINUTE_MS;
}

/** Like a suspended virtual machine, or a process under a debugger. */
async function suspend(context: FaultContext, seconds: number): Promise<Outcome> {
  const service = await context.start();
  const faults = await findFaultsOf(service.client, HOT_URLS);
  service.child.kill('SIGSTOP');
  const waiting = [...HOT_URLS, '/api/search?q=pennant', '/UCPennantSample00000001A/tv.webp?width=333'];
  const found = findFaultsOf(service.client, waiting);
  await sleep(seconds * 1_000);
  service.child.kill('SIGCONT');
  faults.push(...(await found));
  if (!(await comesTrue(() => isReady(service), READY_MS))) faults.push('not ready again');
  return { measured: `${waiting.length} requests that came meanwhile responded, ready at once`, faults };
}

async function isReady({ inside }: ServiceProcess): Promise<boolean> {
  const found = (await (await fetch(`${inside}/readyz`)).json()) as { ready: boolean; conditions: unknown[] };
  return found.ready && found.conditions.length === 0;
}
