import { findNginx } from '../helpers/front.ts';
import { createHttpSender, type SentResponse } from '../helpers/http-request.ts';
import { findRedisServer } from '../helpers/redis.ts';
import { HANG_MS } from '../helpers/wait.ts';
import { type Cluster, type Instance, startCluster, sumOf } from './cluster-instances.ts';
import { type Failure, type Load, mixedUrl, startLoad } from './cluster-load.ts';
import { comesTrue, type Subject } from './context.ts';
import { CHANNELS } from './mixed-load.ts';
import type { Outcome } from './report.ts';
import { findResponseFaults } from './response-faults.ts';

/** The default limit in any span of 30 s. */
const LIMIT = 10;
const UPSTREAM_CHANNEL = 'UCreplayLighthouse000001';
/** Requests of the load. Every instance in use gets some of them. */
const MANY = 500;

/** In this order: those that stop instances come last. */
const CHECKS: readonly { readonly name: string; run(cluster: Cluster): Promise<Outcome> }[] = [
  { name: '1,000 requests of one client at once, through nginx', run: checkLimit },
  { name: 'a record that another instance has loaded', run: checkSharedRecord },
  { name: 'one image, requested 300 times at once, through nginx', run: checkImageMadeOnce },
  { name: 'Redis frozen', run: checkFrozenRedis },
  { name: 'kill -9 of one instance under load', run: checkKilledInstance },
  { name: 'a rolling restart under load', run: checkRollingRestart },
];

/** Three instances on one Redis, behind nginx: real processes on loopback. */
export const cluster: Subject = {
  name: 'cluster',
  needsQuiet: true,
  async run(context) {
    if (!findNginx() || !findRedisServer()) {
      context.report.skip('cluster', 'three instances behind nginx', 'nginx or redis-server is not installed');
      return;
    }
    const started = await startCluster(context);
    try {
      for (const { name, run } of CHECKS) await context.measure('cluster', name, () => run(started));
    } finally {
      await started.stop();
    }
  },
};

async function checkLimit({ instances, front }: Cluster): Promise<Outcome> {
  const urls = CHANNELS.flatMap((id) => [`/api/channel/${id}`, `/channel/${id}`, `/${id}/avatar.webp?width=64`]);
  const requests = Array.from({ length: 1_000 }, (_, at) => urls[at % urls.length] as string);
  return checkAdmitted(instances, () => askAll(front.port, requests, newAddress()));
}

/**
 * One client is admitted `LIMIT` times. Instances may admit more only if Redis was too slow: each decision without
 * Redis is counted.
 */
async function checkAdmitted(instances: readonly Instance[], ask: () => Promise<SentResponse[]>): Promise<Outcome> {
  const aloneBefore = await countAll(instances, DECIDED_ALONE);
  const responses = await ask();
  const alone = (await countAll(instances, DECIDED_ALONE)) - aloneBefore;
  const statuses = countStatuses(responses);
  // nginx serves some images from its cache. Those responses have no RateLimit field.
  const decided = responses.filter(({ headers }) => headers.ratelimit !== undefined);
  const admitted = decided.filter(({ status }) => status !== 429).length;
  const refused = decided.filter(({ status }) => status === 429).length;
  return {
    measured: `${admitted} admitted, ${refused} refused, ${responses.length - decided.length} cached by nginx, ${alone} decided without Redis`,
    faults: [
      ...(admitted >= LIMIT && admitted <= LIMIT + alone ? [] : [`${admitted} admitted instead of ${LIMIT}`]),
      ...(Object.keys(statuses).every((status) => status === '200' || status === '429')
        ? []
        : [`statuses ${JSON.stringify(statuses)}`]),
    ],
  };
}

async function checkSharedRecord({ instances, upstream, redis }: Cluster): Promise<Outcome> {
  upstream.forgetCalls();
  const found: string[] = [];
  const faults: string[] = [];
  const url = `/api/channel/${UPSTREAM_CHANNEL}`;
  for (const { port } of instances) {
    const [response] = (await askAll(port, [url], newAddress())) as [SentResponse];
    faults.push(...(await findResponseFaults([{ url, response }])));
    found.push(`${response.status} ${response.headers['cache-status']}`);
    // The response does not wait for Redis.
    const isShared = await comesTrue(
      async () => ((await redis.command('KEYS', `*${UPSTREAM_CHANNEL}*`)) as string[]).length > 0,
      HANG_MS,
    );
    if (!isShared) faults.push('the record did not reach Redis');
  }
  const loads = upstream.callsTo('browse').length;
  const [first = '', ...others] = found;
  return {
    measured: `first instance: ${first}; others: ${others.join(', ')}; ${loads} page load`,
    faults: [
      ...faults,
      ...(first.startsWith('200 pennant; fwd=uri-miss') ? [] : [`first: ${first}`]),
      ...others.filter((other) => !other.startsWith('200 pennant; hit')),
      ...(loads === 1 ? [] : [`${loads} page loads`]),
    ],
  };
}

async function checkImageMadeOnce({ instances, front }: Cluster): Promise<Outcome> {
  const url = `/${CHANNELS[0]}/tv.avif?width=1777`;
  const before = await countAll(instances, ENCODES, 0);
  const asked = Array.from({ length: 300 }, () => askAll(front.port, [url], newAddress()));
  const responses = (await Promise.all(asked)).flat();
  const encodes = (await countAll(instances, ENCODES, 0)) - before;
  const statuses = countStatuses(responses);
  const bodies = new Set(responses.map(({ bytes }) => bytes.toString('base64')));
  return {
    measured: `${statuses[200] ?? 0} responses, encoded ${encodes} times`,
    faults: [
      ...(statuses[200] === 300 ? [] : [`statuses ${JSON.stringify(statuses)}`]),
      ...(encodes === 1 ? [] : [`${encodes} encodes`]),
      ...(bodies.size === 1 ? [] : [`${bodies.size} different images`]),
      ...(await findResponseFaults(responses.slice(0, 1).map((response) => ({ url, response })))),
    ],
  };
}

async function checkKilledInstance({ instances, front }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  const shares = await measureShares(instances, load);
  const busiest = instances[shares.indexOf(Math.max(...shares))] as Instance;
  const killedAtMs = performance.now();
  await busiest.kill();
  await load.ended(MANY);
  await busiest.start();
  const isUsedAgain = await comesTrue(async () => (await busiest.countResponses()) > 0, HANG_MS);
  const result = await load.stop();
  const isInFlight = ({ startedAtMs, endedAtMs }: Failure) => startedAtMs < killedAtMs && endedAtMs >= killedAtMs;
  const inFlight = result.failures.filter(isInFlight);
  const others = result.failures.filter((failure) => !isInFlight(failure));
  return {
    measured: `${result.responses} responded, ${inFlight.length} lost in flight, ${others.length} others; ${isUsedAgain ? '' : 'not '}used again`,
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

async function checkRollingRestart({ instances, front }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  const shares = await measureShares(instances, load);
  const faults: string[] = [];
  for (const [at, instance] of instances.entries()) {
    const end = await instance.stop();
    if (end !== 0) faults.push(`the ${instance.name} instance ended with ${end}`);
    await instance.start();
    // After a failed connection, nginx skips an instance for a while.
    const isUsedAgain =
      shares[at] === 0 || (await comesTrue(async () => (await instance.countResponses()) > 0, HANG_MS));
    if (!isUsedAgain) faults.push(`the ${instance.name} instance got no requests once it was back`);
  }
  const result = await load.stop();
  return {
    measured: `${result.responses} responded, ${result.failures.length} failed`,
    faults: [...describeFailures(result.failures), ...faults],
  };
}

/** The additional time of a response while Redis does not respond. */
const EXTRA_MS = 300;
/** The slowest response with a working Redis on one machine. */
const ORDINARY_MS = 200;
const BACK_MS = 10_000;

async function checkFrozenRedis({ instances, front, redis }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  await load.ended(MANY);
  redis.freeze();
  const visitors = Array.from({ length: 20 }, (_, at) =>
    createVisitor(front.port, CHANNELS[at % CHANNELS.length] as string),
  );
  const visitAll = () => Promise.all(visitors.map((visitor) => visitor.visit()));
  await visitAll();
  const problems = await redisProblems(instances);
  const isTriedAgain = await comesTrue(async () => {
    const later = await redisProblems(instances);
    return later.some((problem) => !problems.includes(problem));
  }, HANG_MS);
  await visitAll();
  redis.thaw();
  const thawedAtMs = performance.now();
  const isUsed = async () => (await countAll(instances, 'pennant_redis_usable')) === instances.length;
  const isUsedAgain = await comesTrue(isUsed, HANG_MS);
  const backMs = performance.now() - thawedAtMs;
  const requests = Array.from({ length: LIMIT }, () => '/problems');
  const address = newAddress();
  const shared = await checkAdmitted(instances, async () =>
    (await Promise.all(instances.map(({ port }) => askAll(port, requests, address)))).flat(),
  );
  const result = await load.stop();

  const slowestMs = Math.max(...visitors.map((visitor) => visitor.slowestMs()));
  return {
    measured: `${visitors.length} clients, slowest response ${slowestMs.toFixed(0)} ms; ${result.responses} others responded, ${result.failures.length} failed; used again after ${backMs.toFixed(0)} ms: ${shared.measured}`,
    faults: [
      ...visitors.flatMap((visitor) => visitor.faults()),
      ...describeFailures(result.failures),
      ...(problems.length > 0 ? [] : ['no instance reports a problem with Redis']),
      ...(isTriedAgain ? [] : ['no instance tried again']),
      ...(isUsedAgain ? [] : ['Redis is not used again']),
      ...shared.faults,
    ],
    exceeded: [
      ...(slowestMs <= ORDINARY_MS + EXTRA_MS ? [] : [`a response took ${slowestMs.toFixed(0)} ms`]),
      ...(backMs < BACK_MS ? [] : [`Redis was used again after ${backMs.toFixed(0)} ms`]),
    ],
  };
}

/** The details of the condition `redis` in every `/readyz`. A failed attempt to connect changes it. */
async function redisProblems(instances: readonly Instance[]): Promise<string[]> {
  const conditions = (await Promise.all(instances.map((instance) => instance.conditions()))).flat();
  return conditions.filter(({ name }) => name === 'redis').map(({ detail }) => detail);
}

/** A new client that requests one channel, so that all its requests reach one instance. */
function createVisitor(port: number, channelId: string) {
  const url = `/api/channel/${channelId}`;
  const address = newAddress();
  const statuses: number[] = [];
  let slowestMs = 0;

  async function visit(): Promise<void> {
    const sender = createHttpSender(port, address);
    for (let sent = 0; sent < 2 * LIMIT; sent += 1) {
      const startedAtMs = performance.now();
      const { status } = await sender.send({ url });
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      statuses.push(status);
    }
    sender.close();
  }

  return {
    visit,
    slowestMs: () => slowestMs,
    faults() {
      const admitted = statuses.filter((status) => status === 200).length;
      const others = statuses.filter((status) => status !== 200 && status !== 429);
      return [
        ...(admitted === LIMIT ? [] : [`${address} was admitted ${admitted} times`]),
        ...others.map((status) => `${address} got status ${status}`),
      ];
    },
  };
}

let addresses = 0;

/** Requests of a new client. */
function newAddress(): string {
  addresses += 1;
  return `127.2.${addresses >> 8}.${addresses & 255}`;
}

/** Sends all requests at once from one address, each on its own connection. */
async function askAll(port: number, urls: readonly string[], address: string): Promise<SentResponse[]> {
  const sender = createHttpSender(port, address);
  try {
    return await Promise.all(urls.map((url) => sender.send({ url })));
  } finally {
    sender.close();
  }
}

function countStatuses(responses: readonly SentResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const DECIDED_ALONE = 'pennant_limiter_decided_alone_total';
const ENCODES = 'pennant_encoder_task_duration_seconds_count{task="encode"}';

/** The sum of one metric over all instances. */
async function countAll(instances: readonly Instance[], series: string, initial?: number): Promise<number> {
  return sumOf(await Promise.all(instances.map((instance) => instance.metric(series, initial))));
}

function describeFailures(failures: readonly Failure[]): string[] {
  return failures.map(({ url, reason, startedAtMs, endedAtMs }) => {
    return `${url}: ${reason} after ${(endedAtMs - startedAtMs).toFixed(0)} ms`;
  });
}
