import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type CapturedAnswer, fetchAnswer } from './answer.ts';
import { findLoadGenerator, type LoadGenerator, type LoadResult } from './load.ts';
import { cpuSeconds } from './processes.ts';
import type { Row } from './report.ts';
import { type BenchServer, type Service, startBareServer, startNginx, startService } from './servers.ts';
import { type Summary, summarize } from './statistics.ts';

/*
 * Answers that are in memory already, against a bare `node:http` server that sends the same body and the same header
 * fields: what the limiter, the metrics, the trusted proxy and the caches cost beside Node, and what the access log adds.
 */

const CHANNEL_ID = 'UCPennantSample00000001A';
const RECORD_PATH = `/api/channel/${CHANNEL_ID}`;
const PICTURE_BYTES = 130_000;

const ROUNDS = 9;
const ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 3;

interface Subject {
  readonly what: string;
  readonly path: string;
}

/** Of the bare server's CPU time. */
const MOST_CPU_RATIO = 1.2;
const MOST_LOG_MICROS = 8;

interface Round extends LoadResult {
  readonly answersPerSecond: number;
  /** Of the server's own CPU time: tells what an answer costs even while other work takes turns on its core. */
  readonly cpuMicrosPerAnswer: number;
  /** How much of its core the server had. Well below 1, the load generator or a neighbour was the limit. */
  readonly busyShare: number;
}

export async function benchHot(print: (line: string) => void): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-bench-'));
  const load = await findLoadGenerator();
  print(`load generator: ${load.name}`);
  const service = await startService(join(directory, 'service'));
  const logging = await startService(join(directory, 'logging'), { ACCESS_LOG: 'on', LOG_LEVEL: 'info' });
  try {
    const picturePath = await findPicturePath(service);
    print('waiting until the picture has been encoded again');
    await Promise.all([service, logging].map((each) => settle(each, picturePath)));
    const rows: Row[] = [];
    for (const subject of [
      { what: 'hot JSON', path: RECORD_PATH },
      { what: 'hot picture', path: picturePath },
    ]) {
      rows.push(...(await benchSubject({ subject, service, logging, load, directory, print })));
    }
    return rows;
  } finally {
    await service.stop();
    await logging.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A picture of about the size that banners have on the wire, whatever the encoder's settings make of it. */
async function findPicturePath(service: Service): Promise<string> {
  const qualities = [80, 85, 88, 90, 92, 94, 96, 98];
  const candidates: { path: string; distance: number }[] = [];
  for (const quality of qualities) {
    const path = `/${CHANNEL_ID}/desktop.jpg?quality=${quality}`;
    const { body } = await fetchGood(service.url + path);
    candidates.push({ path, distance: Math.abs(body.length - PICTURE_BYTES) });
  }
  return candidates.reduce((best, candidate) => (candidate.distance < best.distance ? candidate : best)).path;
}

const SETTLE_MS = 180_000;
/** Longer than the micro-cache sends a response again: only other responses count for the re-encoding. */
const BETWEEN_REQUESTS_MS = 1_100;

/** Requests the picture until the background has encoded it again. From then on its bytes stay the same. */
async function settle(service: Service, path: string): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS;
  while ((await service.countReEncodes()) === 0) {
    if (performance.now() > deadlineMs) throw new Error(`${path} was not encoded again in time.`);
    await fetchGood(service.url + path);
    await setTimeout(BETWEEN_REQUESTS_MS);
  }
}

/** Addresses from the documentation range: no round uses them, and each stays within its limit. */
const PROBE_ADDRESSES = 250;
let probes = 0;

async function fetchGood(url: string): Promise<CapturedAnswer> {
  probes += 1;
  const answer = await fetchAnswer(url, `192.0.2.${probes % PROBE_ADDRESSES}`);
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${answer.body}`);
  return answer;
}

interface SubjectBench {
  readonly subject: Subject;
  readonly service: Service;
  readonly logging: Service;
  readonly load: LoadGenerator;
  readonly directory: string;
  readonly print: (line: string) => void;
}

async function benchSubject({ subject, service, logging, load, directory, print }: SubjectBench): Promise<Row[]> {
  const { what, path } = subject;
  // The second answer: the first one said that it was a miss.
  for (const each of [service, logging]) await fetchGood(each.url + path);
  const answer = await fetchGood(service.url + path);
  const size = answer.body.length;
  print(`\n${what}: ${path}, ${size} bytes, ${answer.headers.length} header fields`);
  const bare = await startBareServer(join(directory, `bare-${size}`), answer);
  const nginx = await startNginx(join(directory, `nginx-${size}`), answer);
  const servers: BenchServer[] = [service, bare, logging, ...(nginx === undefined ? [] : [nginx])];
  try {
    for (const each of [bare, logging]) assertSameAnswer(answer, await fetchGood(each.url + path));
    const rounds = await runRounds(servers, path, load, print);
    const other = (await service.countOtherAnswers()) + (await logging.countOtherAnswers());
    if (other > 0) throw new Error(`${other} of the answers were not a 200: the rounds do not count.`);
    return rowsOf(subject, servers, rounds, size);
  } finally {
    await bare.stop();
    await nginx?.stop();
  }
}

function assertSameAnswer(expected: CapturedAnswer, actual: CapturedAnswer): void {
  const namesOf = ({ headers }: CapturedAnswer) => headers.map(([name]) => name.toLowerCase()).join();
  if (!actual.body.equals(expected.body)) throw new Error('The servers send different bodies.');
  if (namesOf(actual) !== namesOf(expected)) throw new Error('The servers send different header fields.');
}

/** All servers in turn, again and again: what the machine does besides meets all of them alike. */
async function runRounds(
  servers: readonly BenchServer[],
  path: string,
  load: LoadGenerator,
  print: (line: string) => void,
): Promise<Map<BenchServer, Round[]>> {
  for (const server of servers) await load.run(server.url + path, WARM_UP_SECONDS);
  const rounds = new Map<BenchServer, Round[]>(servers.map((server) => [server, []]));
  for (let number = 1; number <= ROUNDS; number += 1) {
    const shown: string[] = [];
    for (const server of servers) {
      const round = await runRound(server, path, load);
      rounds.get(server)?.push(round);
      shown.push(`${server.name} ${round.answersPerSecond.toFixed(0)}/s`);
    }
    print(`  round ${number}: ${shown.join(', ')}`);
  }
  return rounds;
}

async function runRound(server: BenchServer, path: string, load: LoadGenerator): Promise<Round> {
  const cpuBefore = await cpuSeconds(server.pid);
  const result = await load.run(server.url + path, ROUND_SECONDS);
  const cpu = (await cpuSeconds(server.pid)) - cpuBefore;
  if (result.refused > 0 || result.broken > 0) {
    throw new Error(`${server.name}: ${result.refused} refused and ${result.broken} broken: the round does not count.`);
  }
  return {
    ...result,
    answersPerSecond: result.answers / result.seconds,
    cpuMicrosPerAnswer: (cpu / result.answers) * 1e6,
    busyShare: cpu / result.seconds,
  };
}

function rowsOf(
  { what }: Subject,
  [service, bare, logging, nginx]: readonly BenchServer[],
  rounds: ReadonlyMap<BenchServer, readonly Round[]>,
  bytes: number,
): Row[] {
  const roundsOf = (server: BenchServer | undefined) => (server && rounds.get(server)) ?? [];
  const own = roundsOf(service);
  const others = roundsOf(bare);
  const logged = roundsOf(logging);
  const cpu = summarize(own.map((round, at) => round.cpuMicrosPerAnswer / (others[at]?.cpuMicrosPerAnswer ?? 0)));
  const log = summarize(logged.map((round, at) => round.cpuMicrosPerAnswer - (own[at]?.cpuMicrosPerAnswer ?? 0)));
  const speed = summarize(own.map((round, at) => round.answersPerSecond / (others[at]?.answersPerSecond ?? 0)));
  const name = `${what} (${bytes} bytes)`;
  return [
    {
      part: 'hot',
      what: `${name}: Pennant / bare, CPU time of an answer`,
      measured: spread(cpu, 2),
      target: `at most ${MOST_CPU_RATIO.toFixed(2)}`,
      isMet: cpu.median <= MOST_CPU_RATIO,
      figures: cpu,
    },
    {
      part: 'hot',
      what: `${name}: access log, CPU time of an answer`,
      measured: `${spread(log, 1)} µs more`,
      target: `at most ${MOST_LOG_MICROS} µs more`,
      isMet: log.median <= MOST_LOG_MICROS,
      figures: log,
    },
    { part: 'hot', what: `${name}: Pennant / bare, answers`, measured: spread(speed, 2), figures: speed },
    ...[service, bare, logging, nginx].flatMap((server) =>
      server === undefined ? [] : [speedRow(name, server, roundsOf(server))],
    ),
    ...(nginx === undefined
      ? [{ part: 'hot', what: `${name}: nginx static`, measured: 'skipped: nginx is absent' }]
      : []),
  ];
}

function speedRow(name: string, server: BenchServer, rounds: readonly Round[]): Row {
  const speed = summarize(rounds.map((round) => round.answersPerSecond));
  const cost = summarize(rounds.map((round) => round.cpuMicrosPerAnswer));
  const busy = summarize(rounds.map((round) => round.busyShare));
  const core = `core ${(busy.median * 100).toFixed(0)} % busy`;
  return {
    part: 'hot',
    what: `${name}: ${server.name}`,
    measured: `${spread(cost, 1)} µs of CPU each; ${spread(speed, 0)} answers/s, ${core}`,
    figures: { rounds },
  };
}

function spread({ median, lowest, highest }: Summary, digits: number): string {
  return `${median.toFixed(digits)} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;
}
