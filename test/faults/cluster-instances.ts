import { join } from 'node:path';
import { type Front, startFront } from '../helpers/front.ts';
import { readMetrics } from '../helpers/metrics.ts';
import { findFreePort, type ServiceProcess } from '../helpers/process.ts';
import { type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { type ReplayServer, startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { type FaultContext, metricsOf, metricValue } from './context.ts';

/** Clients from these addresses have no rate limit. All others have one, like visitors. */
const UNLIMITED_NETWORK = '127.1.0.0/16';

interface Condition {
  readonly name: string;
  readonly detail: string;
}

/** One of three instances. It keeps port and data directory across restarts. */
export interface Instance {
  readonly name: string;
  readonly port: number;
  /** The current or last process. */
  process(): ServiceProcess;
  start(): Promise<void>;
  /** Sends SIGTERM. Resolves to the exit status. */
  stop(): Promise<number | NodeJS.Signals>;
  kill(): Promise<void>;
  /** The conditions in `/readyz`. */
  conditions(): Promise<readonly Condition[]>;
  /** @see metricValue */
  metric(series: string, initial?: number): Promise<number>;
  /** Responses of the running process to all routes. */
  countResponses(): Promise<number>;
}

/** Real processes on loopback: Redis, three instances, nginx, and an upstream with recorded responses. */
export interface Cluster {
  readonly redis: RedisServer;
  readonly upstream: ReplayServer;
  readonly instances: readonly [Instance, Instance, Instance];
  readonly front: Front;
  stop(): Promise<void>;
}

export async function startCluster(context: FaultContext): Promise<Cluster> {
  const directory = await context.newDirectory();
  const redis = await startRedisServer();
  const upstream = await startReplayServer();
  const env = {
    REDIS_URL: redis.url,
    ...youtubeSettings(upstream.origin),
    SOURCES: 'catalog,youtube',
    TRUST_PROXY: '127.0.0.1/32',
    BASE_URL: 'https://pennant.example',
    RATE_LIMIT_OVERRIDES: `${UNLIMITED_NETWORK}=unlimited`,
    ENCODERS: '1',
    LOG_LEVEL: 'warn',
  };
  const names = ['first', 'second', 'third'] as const;
  const instances = (await Promise.all(
    names.map((name) => createInstance(context, name, join(directory, name), env)),
  )) as unknown as Cluster['instances'];
  for (const instance of instances) await instance.start();
  const [first, second, third] = instances;
  const front = await startFront([first.port, second.port, third.port]);
  return {
    redis,
    upstream,
    instances,
    front,
    async stop() {
      await front.stop();
      await context.cleanUpServices();
      await upstream.close();
      redis.thaw();
      await redis.remove();
    },
  };
}

async function createInstance(
  context: FaultContext,
  name: string,
  directory: string,
  env: Record<string, string>,
): Promise<Instance> {
  const port = await findFreePort();
  let running: ServiceProcess | undefined;

  function current(): ServiceProcess {
    if (running === undefined) throw new Error(`the ${name} instance was never started`);
    return running;
  }

  async function end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const { child, ended } = current();
    child.kill(signal);
    return ended;
  }

  return {
    name,
    port,
    process: current,
    async start() {
      running = await context.start({ directory, env: { ...env, PORT: String(port) } });
    },
    stop: () => end('SIGTERM'),
    async kill() {
      await end('SIGKILL');
    },
    async conditions() {
      const response = await fetch(`${current().inside}/readyz`);
      return ((await response.json()) as { conditions: Condition[] }).conditions;
    },
    metric: async (series, initial) => metricValue(await metricsOf(current()), series, initial),
    async countResponses() {
      const counts = [...readMetrics(await metricsOf(current()))].filter(([series]) =>
        series.startsWith('pennant_http_requests_total{'),
      );
      return sumOf(counts.map(([, count]) => count));
    },
  };
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
