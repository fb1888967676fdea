import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNELS } from '../faults/mixed-load.ts';
import type { Outcome } from '../faults/report.ts';
import { createHttpSender, type SentAnswer } from '../helpers/http-request.ts';
import type { Cluster, Instance } from './cluster.ts';
import { type LoadResult, mixedUrl, startLoad } from './load.ts';

export interface Check {
  readonly name: string;
  run(cluster: Cluster): Promise<Outcome>;
}

/** The default: in any span of 30 s. */
const LIMIT = 10;
const UPSTREAM_CHANNEL = 'UCreplayLighthouse000001';

/**
 * In the order they run. Those that stop instances come last: nginx leaves one alone for a while after that, and a
 * client that moves to another instance during an outage of Redis begins anew there.
 */
export const CHECKS: readonly Check[] = [
  { name: '1,000 requests of one client at once, through nginx', run: checkLimit },
  { name: 'a record that another instance has loaded', run: checkSharedRecord },
  { name: 'a picture asked for 300 times at once, through nginx', run: checkPictureMadeOnce },
  { name: 'Redis frozen for 5 s', run: checkFrozenRedis },
  { name: 'kill -9 of one instance under load', run: checkKilledInstance },
  { name: 'a rolling restart under load', run: checkRollingRestart },
];

/**
 * Where an instance gave Redis up meanwhile, limits were each instance's own, as in any outage: on a machine as busy as
 * that, the count proves nothing, and another client is counted.
 */
async function checkLimit(cluster: Cluster): Promise<Outcome> {
  const clients = ['127.0.0.2', '127.0.0.5', '127.0.0.6'];
  for (const client of clients) {
    const aloneBefore = await countDecidedAlone(cluster);
    const outcome = await countAdmitted(cluster, client);
    if (outcome.faults.length === 0 || (await countDecidedAlone(cluster)) === aloneBefore) return outcome;
    await sleep(REDIS_LEFT_ALONE_MS);
  }
  return { measured: 'Redis did not answer in time', faults: [`Redis was given up ${clients.length} times`] };
}

/** Longer than an instance leaves a Redis alone that did not answer. */
const REDIS_LEFT_ALONE_MS = 2_000;

async function countDecidedAlone({ instances }: Cluster): Promise<number> {
  const counts = await Promise.all(instances.map((instance) => instance.countDecidedAlone()));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function countAdmitted({ front }: Cluster, client: string): Promise<Outcome> {
  const urls = CHANNELS.flatMap((id) => [`/api/channel/${id}`, `/channel/${id}`, `/${id}/avatar.webp?width=64`]);
  const answers = await askAll(
    front.port,
    Array.from({ length: 1_000 }, (_, at) => urls[at % urls.length] as string),
    client,
  );
  const statuses = countStatuses(answers);
  // A picture that nginx keeps is no request to the service: only what carries a budget was decided upon.
  const decided = answers.filter(({ headers }) => headers.ratelimit !== undefined);
  const admitted = decided.filter(({ status }) => status !== 429).length;
  const refused = decided.filter(({ status }) => status === 429).length;
  return {
    measured: `${admitted} admitted, ${refused} refused, ${answers.length - decided.length} copies by nginx`,
    faults: [
      ...(admitted === LIMIT ? [] : [`${admitted} admitted instead of ${LIMIT}`]),
      ...(Object.keys(statuses).every((status) => status === '200' || status === '429')
        ? []
        : [`statuses ${JSON.stringify(statuses)}`]),
    ],
  };
}

async function checkSharedRecord({ instances, upstream }: Cluster): Promise<Outcome> {
  upstream.forgetCalls();
  const found: string[] = [];
  for (const { port } of instances) {
    const [answer] = await askAll(port, [`/api/channel/${UPSTREAM_CHANNEL}`], '127.0.0.3');
    found.push(`${answer?.status} ${answer?.headers['cache-status']}`);
    // Written behind the answer.
    await sleep(100);
  }
  const loads = upstream.callsTo('browse').length;
  const [first = '', ...others] = found;
  return {
    measured: `first instance: ${first}; others: ${others.join(', ')}; ${loads} page load`,
    faults: [
      ...(first.startsWith('200 pennant; fwd=uri-miss') ? [] : [`first: ${first}`]),
      ...others.filter((other) => !other.startsWith('200 pennant; hit')),
      ...(loads === 1 ? [] : [`${loads} page loads`]),
    ],
  };
}

async function checkPictureMadeOnce({ instances, front }: Cluster): Promise<Outcome> {
  const url = `/${CHANNELS[0]}/tv.avif?width=1777`;
  const before = await countEncodes(instances);
  const asked = Array.from({ length: 300 }, (_, client) =>
    askAll(front.port, [url], `127.4.${client >> 8}.${client & 255}`),
  );
  const answers = (await Promise.all(asked)).flat();
  const encodes = (await countEncodes(instances)) - before;
  const statuses = countStatuses(answers);
  const bodies = new Set(answers.map(({ bytes }) => bytes.toString('base64')));
  return {
    measured: `${statuses[200] ?? 0} answers, encoded ${encodes} times`,
    faults: [
      ...(statuses[200] === 300 ? [] : [`statuses ${JSON.stringify(statuses)}`]),
      ...(encodes === 1 ? [] : [`${encodes} encodes`]),
      ...(bodies.size === 1 ? [] : [`${bodies.size} different pictures`]),
    ],
  };
}

/** A little longer than nginx leaves an instance alone that it could not reach. */
const LEFT_ALONE_MS = 3_000;

async function checkKilledInstance({ instances, front }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  await sleep(2_000);
  // Which channels are whose depends on the ports: the few samples may leave one of the instances without any.
  const busiest = await findBusiest(instances);
  const killedAtMs = performance.now();
  await busiest.kill();
  await sleep(3_000);
  await busiest.start();
  await sleep(LEFT_ALONE_MS);
  const answeredAgain = await busiest.countAnswers();
  const result = await load.stop();
  const inFlight = result.failures.filter((failure) => failure.startedAtMs < killedAtMs);
  const later = result.failures.filter((failure) => failure.startedAtMs >= killedAtMs);
  return {
    measured: `${result.answers} answered, ${inFlight.length} lost in flight, ${later.length} later; ${answeredAgain} by it once it was back`,
    faults: [...describeFailures(later), ...(answeredAgain > 0 ? [] : ['it got no requests once it was back'])],
  };
}

async function findBusiest(instances: Cluster['instances']): Promise<Instance> {
  const counts = await Promise.all(instances.map((instance) => instance.countAnswers()));
  return instances[counts.indexOf(Math.max(...counts))] as Instance;
}

async function checkRollingRestart({ instances, front }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  await sleep(1_000);
  const ends: (number | NodeJS.Signals)[] = [];
  for (const instance of instances) {
    ends.push(await instance.stop());
    await instance.start();
    await sleep(LEFT_ALONE_MS);
  }
  const result: LoadResult = await load.stop();
  return {
    measured: `${result.answers} answered, ${result.failures.length} failed`,
    faults: [
      ...describeFailures(result.failures),
      ...ends.filter((end) => end !== 0).map((end) => `an instance ended with ${end}`),
    ],
  };
}

const FROZEN_MS = 5_000;
/** What an answer may take longer while Redis does not answer. */
const EXTRA_MS = 300;
/** What an answer takes at most without that, on a machine that all of this shares. */
const ORDINARY_MS = 200;
const BACK_MS = 10_000;

async function checkFrozenRedis({ instances, front, redis }: Cluster): Promise<Outcome> {
  const load = startLoad(front.port, mixedUrl);
  await sleep(1_000);
  redis.freeze();
  const frozenAtMs = performance.now();
  const visits = Array.from({ length: 20 }, (_, at) => visitWhile(front.port, at, frozenAtMs + FROZEN_MS));
  const visitors = await Promise.all(visits);
  const degraded = (await Promise.all(instances.map((instance) => instance.conditions()))).flat();
  redis.thaw();
  const backMs = await untilShared(instances, performance.now());
  const result = await load.stop();

  const admitted = visitors.map((visitor) => visitor.admitted);
  const slowestMs = Math.max(...visitors.map((visitor) => visitor.slowestMs));
  const unexpected = visitors.flatMap((visitor) => visitor.unexpected);
  return {
    measured: `${visitors.length} clients: ${Math.min(...admitted)}–${Math.max(...admitted)} admitted each, slowest answer ${slowestMs.toFixed(0)} ms; ${result.answers} others answered, ${result.failures.length} failed; limits shared again after ${backMs.toFixed(0)} ms`,
    faults: [
      ...admitted.filter((count) => count !== LIMIT).map((count) => `a client was admitted ${count} times`),
      ...unexpected,
      ...describeFailures(result.failures),
      ...(degraded.some((condition) => condition.startsWith('redis')) ? [] : ['no instance says that Redis is away']),
      ...(slowestMs <= ORDINARY_MS + EXTRA_MS ? [] : [`an answer took ${slowestMs.toFixed(0)} ms`]),
      ...(backMs < BACK_MS ? [] : ['limits were not shared again']),
    ],
  };
}

/** A client that nobody has met, with one channel: all its requests go to one instance. */
async function visitWhile(port: number, number: number, untilMs: number) {
  const sender = createHttpSender(port, `127.0.3.${number + 1}`);
  const url = `/api/channel/${CHANNELS[number % CHANNELS.length]}`;
  const unexpected: string[] = [];
  let admitted = 0;
  let slowestMs = 0;
  while (performance.now() < untilMs) {
    const startedAtMs = performance.now();
    const { status } = await sender.send({ url });
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
    if (status === 200) admitted += 1;
    else if (status !== 429) unexpected.push(`status ${status}`);
    await sleep(100);
  }
  sender.close();
  return { admitted, slowestMs, unexpected };
}

/** How long it takes until a new client's requests to all instances count together. */
async function untilShared(instances: readonly Instance[], sinceMs: number): Promise<number> {
  let attempt = 0;
  while (performance.now() < sinceMs + BACK_MS) {
    attempt += 1;
    const asked = instances.map(({ port }) =>
      askAll(
        port,
        Array.from({ length: LIMIT }, () => '/problems'),
        `127.0.4.${attempt}`,
      ),
    );
    const answers = (await Promise.all(asked)).flat();
    if (answers.filter(({ status }) => status === 200).length === LIMIT) return performance.now() - sinceMs;
    await sleep(200);
  }
  return BACK_MS;
}

/** All at once, from one address, each on a connection of its own. */
async function askAll(port: number, urls: readonly string[], address: string): Promise<SentAnswer[]> {
  const sender = createHttpSender(port, address);
  try {
    return await Promise.all(urls.map((url) => sender.send({ url })));
  } finally {
    sender.close();
  }
}

function countStatuses(answers: readonly SentAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function countEncodes(instances: readonly Instance[]): Promise<number> {
  const counts = await Promise.all(instances.map((instance) => instance.countEncodes()));
  return counts.reduce((sum, count) => sum + count, 0);
}

function describeFailures(failures: LoadResult['failures']): string[] {
  return failures.map(({ url, reason, startedAtMs, endedAtMs }) => {
    return `${url}: ${reason} after ${(endedAtMs - startedAtMs).toFixed(0)} ms`;
  });
}
