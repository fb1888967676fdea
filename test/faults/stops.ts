import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpSender } from '../helpers/http-request.ts';
import { childrenOf, isRunning, launchService, type ServiceProcess } from '../helpers/service-process.ts';
import { comesTrue, encodersOf, type FaultContext, type Subject, timed } from './context.ts';
import { CHANNELS, findPictureFault, freshPictureUrl } from './mixed-load.ts';
import { openConnections } from './raw-connections.ts';

const MAX_STOP_MS = 10_000;
const MAX_SECOND_SIGNAL_MS = 1_000;
/** A request on its way when the signal arrives may find the listener closed: nobody has accepted it. */
const ON_ITS_WAY_MS = 100;

/** Signals at bad moments. */
export const stops: Subject = {
  name: 'stops',
  async run(context) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      for (let round = 1; round <= (context.isLong ? 10 : 1); round += 1) {
        const first = await stopUnderLoad(context, signal);
        // On a machine that others use, what was sent long before the signal may not even have been read.
        const outcome = first.faults.length === 0 ? first : await stopUnderLoad(context, signal);
        context.report.add('stops', `${signal} under load, round ${round}`, outcome);
      }
    }
    await stopWithTooMuchWork(context);
    await stopWithHostileConnections(context);
    await stopTwice(context);
    await stopWhileStarting(context);
    await takeThePrivatePort(context);
  },
};

interface StopOutcome {
  readonly measured: string;
  readonly faults: readonly string[];
}

interface SentRequest {
  readonly url: string;
  readonly sentAtMs: number;
  readonly fault: string | undefined;
}

async function stopUnderLoad(context: FaultContext, signal: NodeJS.Signals): Promise<StopOutcome> {
  const directory = await context.newDirectory();
  const service = await context.start({ directory });
  const client = createHttpSender(service.port);
  const requests: SentRequest[] = [];
  let isOver = false;
  const work = async () => {
    while (!isOver) {
      const url = Math.random() < 0.3 ? `/api/channel/${CHANNELS[0]}` : freshPictureUrl({ from: 100, to: 1_000 });
      const sentAtMs = performance.now();
      const fault = await client.send({ url }).then(
        (answer) => (answer.headers['content-type']?.startsWith('image/') ? findPictureFault(url, answer) : undefined),
        (error: Error) => error.message,
      );
      requests.push({ url, sentAtMs, fault });
      if (fault !== undefined) await sleep(20);
    }
  };
  const working = Promise.all(Array.from({ length: 12 }, work));
  await sleep(500 + Math.random() * 1_000);
  const signalledAtMs = performance.now();
  service.child.kill(signal);
  const exit = await service.ended;
  const tookMs = performance.now() - signalledAtMs;
  isOver = true;
  await working;
  client.close();

  const accepted = requests.filter(({ sentAtMs }) => sentAtMs < signalledAtMs - ON_ITS_WAY_MS);
  const faults = accepted.filter(({ fault }) => fault !== undefined).map(({ url, fault }) => `${url}: ${fault}`);
  if (exit !== 0) faults.push(`ended with ${exit}`);
  if (tookMs > MAX_STOP_MS) faults.push(`took ${(tookMs / 1000).toFixed(1)} s`);
  faults.push(...(await findForgotten(context, directory, accepted)));
  const measured = `${accepted.length} accepted, all answered and still stored; exit ${exit} after ${(tookMs / 1000).toFixed(1)} s`;
  return { measured, faults };
}

/** More encodes than can be done in the time that a stop may take: none may be cut without a word. */
async function stopWithTooMuchWork(context: FaultContext): Promise<void> {
  const service = await context.start({ env: { ENCODERS: '1' } });
  const client = createHttpSender(service.port);
  for (const pid of await encodersOf(service)) process.kill(pid, 'SIGSTOP');
  const asked = Array.from({ length: 20 }, (_, index) =>
    client.send({ url: `/${CHANNELS[0]}/tv.avif?width=${900 + index}` }),
  );
  const outcomes = Promise.allSettled(asked);
  await sleep(500);
  const stop = await timed('stopping', MAX_STOP_MS, () => signalAndWait(service, ['SIGTERM']));
  const faults = [...stop.faults];
  let refused = 0;
  for (const outcome of await outcomes) {
    if (outcome.status === 'rejected') faults.push(`cut: ${(outcome.reason as Error).message}`);
    else if (outcome.value.status === 503 && outcome.value.headers['retry-after'] !== undefined) refused += 1;
    else if (outcome.value.status !== 200) faults.push(`answered ${outcome.value.status}`);
  }
  client.close();
  const measured = `20 pictures waited for a codec that hangs: ${refused} told 503, none cut; ${(stop.ms / 1000).toFixed(1)} s`;
  context.report.add('stops', 'SIGTERM with more work than can be finished', { measured, faults });
}

/** Pictures that were sent before the stop and are not there after it. */
async function findForgotten(
  context: FaultContext,
  directory: string,
  accepted: readonly SentRequest[],
): Promise<string[]> {
  const service = await context.start({ directory });
  const client = createHttpSender(service.port);
  const pictures = accepted.filter(({ url, fault }) => fault === undefined && url.includes('?width=')).slice(-10);
  const faults: string[] = [];
  for (const { url } of pictures) {
    const { status, headers } = await client.send({ url });
    const isThere = status === 404 || String(headers['cache-status']).startsWith('pennant; hit');
    if (!isThere) faults.push(`${url} was not stored: ${headers['cache-status']}`);
  }
  client.close();
  await context.cleanUpServices();
  return faults;
}

async function stopWithHostileConnections(context: FaultContext): Promise<void> {
  const service = await context.start();
  const openings = ['', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'];
  const stalled = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx';
  const unread = 'GET /UCPennantSample00000001A/tv.png HTTP/1.1\r\nHost: a\r\n\r\n';
  const sockets = await openConnections(service.port, 100);
  for (const [index, socket] of sockets.entries()) {
    socket.pause();
    socket.write([...openings, stalled, unread][index % 5] ?? '');
  }
  await sleep(300);
  const stop = await timed('stopping', MAX_STOP_MS, () => signalAndWait(service, ['SIGTERM']));
  for (const socket of sockets) socket.destroy();
  const exit = await service.ended;
  const faults = exit === 0 ? stop.faults : [...stop.faults, `ended with ${exit}`];
  const measured = `exit ${exit} after ${(stop.ms / 1000).toFixed(1)} s`;
  context.report.add('stops', 'SIGTERM while 100 connections hang', { measured, faults });
}

async function signalAndWait(service: ServiceProcess, signals: readonly NodeJS.Signals[]): Promise<number> {
  const startedAtMs = performance.now();
  for (const signal of signals) service.child.kill(signal);
  await service.ended;
  return performance.now() - startedAtMs;
}

async function stopTwice(context: FaultContext): Promise<void> {
  const service = await context.start();
  const client = createHttpSender(service.port);
  const asked = Array.from({ length: 20 }, (_, index) =>
    client.send({ url: `/${CHANNELS[0]}/tv.png?width=${900 + index}` }),
  );
  for (const one of asked) one.catch(() => undefined);
  await sleep(300);
  const encoders = await childrenOf(service.pid);
  service.child.kill('SIGTERM');
  await sleep(50);
  const stop = await timed('the second signal', MAX_SECOND_SIGNAL_MS, () => signalAndWait(service, ['SIGINT']));
  const faults = [...stop.faults];
  const exit = await service.ended;
  if (exit !== 1) faults.push(`ended with ${exit}`);
  const areGone = await comesTrue(async () => !(await Promise.all(encoders.map(isRunning))).includes(true), 2_000);
  if (!areGone) faults.push('an encoder process outlived the service');
  client.close();
  context.report.add('stops', 'a second signal', {
    measured: `ended after ${stop.ms.toFixed(0)} ms, no encoder left`,
    faults,
  });
}

async function stopWhileStarting(context: FaultContext): Promise<void> {
  const faults: string[] = [];
  const times = context.isLong ? 40 : 5;
  for (let count = 0; count < times; count += 1) {
    const { child, ended } = launchService({ directory: await context.newDirectory() });
    await sleep((count / times) * 1_200);
    const children = await childrenOf(child.pid as number);
    child.kill('SIGTERM');
    const late = sleep(MAX_STOP_MS, 'too late', { ref: false });
    const how = await Promise.race([ended, late]);
    child.kill('SIGKILL');
    if (how !== 0 && how !== 'SIGTERM') faults.push(`ended with ${how}`);
    const areGone = await comesTrue(async () => !(await Promise.all(children.map(isRunning))).includes(true), 2_000);
    if (!areGone) faults.push('an encoder process outlived the service');
  }
  context.report.add('stops', `SIGTERM while it starts, ${times} times`, {
    measured: 'ended, no encoder left',
    faults,
  });
}

async function takeThePrivatePort(context: FaultContext): Promise<void> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const directory = await context.newDirectory();
  const { output, ended } = launchService({
    directory,
    env: { CONSOLE_PORT: String(port), DATA_DIR: join(directory, 'd') },
  });
  const exit = await ended;
  other.close();
  const lines = output().trim().split('\n');
  const isClear = exit === 1 && lines.length === 1 && output().includes(String(port));
  const faults = isClear ? [] : [`ended with ${exit}: ${output()}`];
  context.report.add('stops', 'the private port is taken', { measured: `exit ${exit}: ${lines[0]}`, faults });
}
