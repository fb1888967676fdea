import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { findNginx, startFront } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';
import { repeat } from '../helpers/load.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { findFreePort } from '../helpers/process.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { HANG_MS } from '../helpers/wait.ts';
import { comesTrue, type FaultContext, type FaultService, metricsOf, type Subject } from './context.ts';
import { CHANNELS } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findResponseFault } from './response-faults.ts';

/** Requests of the load. Every instance in use gets some of them. */
const MANY = 500;
const CLIENTS = 8;

/** An instance that keeps port and data directory across restarts. */
type Instance = Awaited<ReturnType<typeof startInstance>>;

interface Cluster {
  readonly instances: readonly Instance[];
  /** Of nginx. */
  readonly port: number;
}

/** Three instances on one Redis, behind nginx: real processes on loopback. */
export const cluster: Subject = {
  name: 'cluster',
  needsQuiet: true,
  async run(context) {
    if (!findNginx() || !findRedisServer()) {
      context.report.skip('cluster', 'three instances behind nginx', 'nginx or redis-server is not installed');
      return;
    }
    const directory = await context.newDirectory();
    const redis = await startRedisServer();
    const env = { REDIS_URL: redis.url, TRUST_PROXY: '127.0.0.1/32', BASE_URL: 'https://pennant.example' };
    const start = (name: string) => startInstance(context, join(directory, name), env);
    const instances = await Promise.all(['first', 'second', 'third'].map(start));
    const front = await startFront(instances.map(({ port }) => port));
    const started = { instances, port: front.port };
    try {
      await context.measure('cluster', 'kill -9 of one instance under load', () => checkKilledInstance(started));
      await context.measure('cluster', 'a rolling restart under load', () => checkRollingRestart(started));
    } finally {
      await front.stop();
      await context.cleanUpServices();
      await redis.remove();
    }
  },
};

async function startInstance(context: FaultContext, directory: string, env: Record<string, string>) {
  const port = await findFreePort();
  const start = () => context.start({ directory, env: { ...env, ENCODERS: '1', PORT: String(port) } });
  let running: FaultService = await start();
  return {
    port,
    async start() {
      running = await start();
    },
    async end(signal: NodeJS.Signals) {
      running.child.kill(signal);
      return running.ended;
    },
    /** Responses of the running process to all routes. */
    async countResponses(): Promise<number> {
      const counts = [...readMetrics(await metricsOf(running))].filter(([series]) =>
        series.startsWith('pennant_http_requests_total{'),
      );
      return counts.reduce((sum, [, count]) => sum + count, 0);
    },
  };
}

async function checkKilledInstance({ instances, port }: Cluster): Promise<Outcome> {
  const load = startLoad(port);
  const shares = await measureShares(instances, load);
  const busiest = instances[shares.indexOf(Math.max(...shares))] as Instance;
  const killedAtMs = performance.now();
  await busiest.end('SIGKILL');
  await load.ended(MANY);
  await busiest.start();
  const isUsedAgain = await comesTrue(async () => (await busiest.countResponses()) > 0, HANG_MS);
  const { responses, failures } = await load.stop();
  const isInFlight = ({ startedAtMs, endedAtMs }: Failure) => startedAtMs < killedAtMs && endedAtMs >= killedAtMs;
  const others = failures.filter((failure) => !isInFlight(failure));
  return {
    measured: `${responses} responded, ${failures.length - others.length} lost in flight, ${others.length} others; ${isUsedAgain ? '' : 'not '}used again`,
    faults: [...describeFailures(others), ...(isUsedAgain ? [] : ['it got no requests once it was back'])],
  };
}

/** The requests of the load that each instance gets. A hash of names and ports decides, so an instance may get none. */
async function measureShares(instances: readonly Instance[], load: Load): Promise<number[]> {
  const countEach = () => Promise.all(instances.map((instance) => instance.countResponses()));
  const before = await countEach();
  await load.ended(MANY);
  const after = await countEach();
  return after.map((count, at) => count - (before[at] as number));
}

async function checkRollingRestart({ instances, port }: Cluster): Promise<Outcome> {
  const load = startLoad(port);
  const shares = await measureShares(instances, load);
  const faults: string[] = [];
  for (const [at, instance] of instances.entries()) {
    const end = await instance.end('SIGTERM');
    if (end !== 0) faults.push(`instance ${at + 1} ended with ${end}`);
    await instance.start();
    // After a failed connection, nginx skips an instance for a while.
    const isUsedAgain =
      shares[at] === 0 || (await comesTrue(async () => (await instance.countResponses()) > 0, HANG_MS));
    if (!isUsedAgain) faults.push(`instance ${at + 1} got no requests once it was back`);
  }
  const { responses, failures } = await load.stop();
  return {
    measured: `${responses} responded, ${failures.length} failed`,
    faults: [...describeFailures(failures), ...faults],
  };
}

/** A request that did not get the right response. */
interface Failure {
  readonly url: string;
  readonly reason: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

type Load = ReturnType<typeof startLoad>;

/** Clients that each send one request after another. Times are monotonic. */
function startLoad(port: number) {
  const failures: Failure[] = [];
  let responses = 0;
  let requests = 0;
  const progress = new EventEmitter();
  const sender = createHttpSender(port);

  async function visit(): Promise<void> {
    requests += 1;
    const url = urlOf(requests);
    const startedAtMs = performance.now();
    const reason = await sender.send({ url }).then(
      (response) => findResponseFault(url, response),
      (error: Error) => error.message,
    );
    if (reason === undefined) responses += 1;
    else failures.push({ url, reason, startedAtMs, endedAtMs: performance.now() });
    progress.emit('ended');
  }

  const visits = repeat(CLIENTS, visit);
  return {
    /** Resolves when this many more requests have ended. */
    async ended(count: number): Promise<void> {
      const end = responses + failures.length + count;
      while (responses + failures.length < end) await once(progress, 'ended');
    },
    async stop() {
      await visits.stop();
      sender.close();
      return { responses, failures };
    },
  };
}

/** Records and images of every sample. Every seventh request is for an image in one of many sizes. */
function urlOf(request: number): string {
  const id = CHANNELS[request % CHANNELS.length] as string;
  if (request % 7 === 0) return `/${id}/avatar.jpg?width=${16 + (request % 400)}`;
  return request % 7 < 3 ? `/${id}/avatar.webp?width=96` : `/api/channel/${id}`;
}

function describeFailures(failures: readonly Failure[]): string[] {
  return failures.map(({ url, reason, startedAtMs, endedAtMs }) => {
    return `${url}: ${reason} after ${(endedAtMs - startedAtMs).toFixed(0)} ms`;
  });
}
