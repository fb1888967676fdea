import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type CapturedAnswer, fetchAnswer } from './answer.ts';
import { findLoadGenerator, type LoadGenerator } from './load.ts';
import type { Row } from './report.ts';
import { type Round, runRound } from './rounds.ts';
import { type BenchServer, type Service, startBareServer, startNginx, startService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

/*
 * Responses from memory, compared with a bare `node:http` server that sends the same body and the same header fields:
 * the cost of the limiter, the metrics, the trusted proxy and the caches, and of the access log.
 */

const CHANNEL_ID = 'UCPennantSample00000001A';
const RECORD_PATH = `/api/channel/${CHANNEL_ID}`;
const PICTURE_BYTES = 130_000;

/** Each with new processes: two processes of the same program may differ by a fifth. */
const STARTS = 3;
const ROUNDS_PER_START = 3;
const ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 3;

/** Relative to the bare server's CPU time. */
const MOST_CPU_RATIO = 1.2;
const MOST_LOG_MICROS = 8;

export function benchHot(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

interface Result {
  readonly what: string;
  readonly bytes: number;
  /** By the server's name. */
  readonly rounds: ReadonlyMap<string, readonly Round[]>;
}

async function benchIn(directory: string, print: (line: string) => void): Promise<Row[]> {
  const load = await findLoadGenerator();
  print(`load generator: ${load.name}`);
  const results: Result[] = [];
  let picturePath: string | undefined;
  for (let number = 1; number <= STARTS; number += 1) {
    print(`\nstart ${number} of ${STARTS}`);
    const service = await startService(join(directory, 'service'));
    const logging = await startService(join(directory, 'logging'), { ACCESS_LOG: 'on', LOG_LEVEL: 'info' });
    try {
      if (picturePath === undefined) {
        picturePath = await findPicturePath(service);
        print('waiting until the picture has been encoded again');
        for (const each of [service, logging]) await settle(each, picturePath);
      }
      for (const [what, path] of [
        ['hot JSON', RECORD_PATH],
        ['hot picture', picturePath],
      ] as const) {
        results.push(await benchSubject({ what, path, service, logging, load, directory, print }));
      }
    } finally {
      await service.stop();
      await logging.stop();
    }
  }
  return Object.values(Object.groupBy(results, ({ what }) => what)).flatMap((ofSubject = []) => rowsOf(ofSubject));
}

/** A picture of about the size of typical banners, whatever the encoder's settings are. */
async function findPicturePath(service: Service): Promise<string> {
  const qualities = [80, 85, 88, 90, 92, 94, 96, 98];
  const candidates: { path: string; distance: number }[] = [];
  for (const quality of qualities) {
    const path = `/${CHANNEL_ID}/desktop.jpg?quality=${quality}`;
    const { body } = await probe(service.url + path);
    candidates.push({ path, distance: Math.abs(body.length - PICTURE_BYTES) });
  }
  return candidates.reduce((best, candidate) => (candidate.distance < best.distance ? candidate : best)).path;
}

const SETTLE_MS = 180_000;
/** Longer than the time of the micro-cache, whose responses do not count for the re-encoding. */
const BETWEEN_REQUESTS_MS = 1_100;

/** Requests the picture until the background has encoded it again. From then on its bytes stay the same. */
async function settle(service: Service, path: string): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS;
  while ((await service.countReEncodes()) === 0) {
    if (performance.now() > deadlineMs) throw new Error(`${path} was not encoded again in time.`);
    await probe(service.url + path);
    await setTimeout(BETWEEN_REQUESTS_MS);
  }
}

/** Addresses from the documentation range. No round uses them, and each stays within its limit. */
const PROBE_ADDRESSES = 250;
let probes = 0;

function probe(url: string): Promise<CapturedAnswer> {
  probes += 1;
  return fetchAnswer(url, `192.0.2.${probes % PROBE_ADDRESSES}`);
}

interface SubjectBench {
  readonly what: string;
  readonly path: string;
  readonly service: Service;
  readonly logging: Service;
  readonly load: LoadGenerator;
  readonly directory: string;
  readonly print: (line: string) => void;
}

async function benchSubject(bench: SubjectBench): Promise<Result> {
  const { what, path, service, logging, load, directory, print } = bench;
  // The second response, because the first one is a miss.
  for (const each of [service, logging]) await probe(each.url + path);
  const answer = await probe(service.url + path);
  const bytes = answer.body.length;
  print(`${what}: ${path}, ${bytes} bytes, ${answer.headers.length} header fields`);
  const bare = await startBareServer(join(directory, `bare-${bytes}`), answer);
  const nginx = await startNginx(join(directory, `nginx-${bytes}`), answer);
  const servers: BenchServer[] = [service, bare, logging, ...(nginx === undefined ? [] : [nginx])];
  try {
    for (const each of [bare, logging]) assertSameAnswer(answer, await probe(each.url + path));
    const rounds = await runRounds(servers, path, load, print);
    for (const each of [service, logging]) await each.assertAllGood();
    return { what, bytes, rounds };
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

/** All servers in turn, repeatedly, so that other work on the machine affects all of them equally. */
async function runRounds(
  servers: readonly BenchServer[],
  path: string,
  load: LoadGenerator,
  print: (line: string) => void,
): Promise<Map<string, Round[]>> {
  for (const server of servers) await load.run(server.url + path, WARM_UP_SECONDS);
  const rounds = new Map<string, Round[]>(servers.map(({ name }) => [name, []]));
  for (let number = 1; number <= ROUNDS_PER_START; number += 1) {
    const shown: string[] = [];
    for (const server of servers) {
      const round = await runRound(server, path, load, ROUND_SECONDS);
      rounds.get(server.name)?.push(round);
      shown.push(`${server.name} ${round.answersPerSecond.toFixed(0)}/s`);
    }
    print(`  round ${number}: ${shown.join(', ')}`);
  }
  return rounds;
}

/** @param results of one subject, from all starts */
function rowsOf(results: readonly Result[]): Row[] {
  const [{ what = '', bytes = 0, rounds = new Map() } = {}] = results;
  const [service, bare, logging, nginx] = [...rounds.keys()];
  const roundsOf = (name = '') => results.flatMap((result) => result.rounds.get(name) ?? []);
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
      what: `${name}: Pennant / bare, CPU time of a response`,
      measured: formatSummary(cpu, 2),
      target: `at most ${MOST_CPU_RATIO.toFixed(2)}`,
      isMet: cpu.median <= MOST_CPU_RATIO,
      figures: cpu,
    },
    {
      part: 'hot',
      what: `${name}: access log, CPU time of a response`,
      measured: `${formatSummary(log, 1)} µs more`,
      target: `at most ${MOST_LOG_MICROS} µs more`,
      isMet: log.median <= MOST_LOG_MICROS,
      figures: log,
    },
    { part: 'hot', what: `${name}: Pennant / bare, answers`, measured: formatSummary(speed, 2), figures: speed },
    ...[...rounds.keys()].map((server) => speedRow(name, server, roundsOf(server))),
    ...(nginx === undefined
      ? [{ part: 'hot', what: `${name}: nginx static`, measured: 'skipped: nginx is absent' }]
      : []),
  ];
}

function speedRow(name: string, server: string, rounds: readonly Round[]): Row {
  const speed = summarize(rounds.map((round) => round.answersPerSecond));
  const cost = summarize(rounds.map((round) => round.cpuMicrosPerAnswer));
  const busy = summarize(rounds.map((round) => round.busyShare));
  const core = `core ${(busy.median * 100).toFixed(0)} % busy`;
  return {
    part: 'hot',
    what: `${name}: ${server}`,
    measured: `${formatSummary(cost, 1)} µs of CPU each; ${formatSummary(speed, 0)} answers/s, ${core}`,
    figures: { rounds },
  };
}
