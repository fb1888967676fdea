import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServiceProcess, startProcess } from '../test/helpers/process.ts';
import { createLoadGenerator, type LoadedServer, type LoadGenerator, type Round } from './load.ts';
import { ON_SERVER_CORE, stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { assertAllGood, SAMPLE_CHANNEL, startPinnedService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const RECORD_PATH = `/api/channel/${SAMPLE_CHANNEL}`;
/** About 110 KB, like typical banners. */
const IMAGE_PATH = `/${SAMPLE_CHANNEL}/desktop.jpg?quality=90`;

/** Each with new processes: two processes of the same program may differ by a fifth. */
const STARTS = 3;
const ROUNDS_PER_START = 3;
const ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 3;

/** Relative to the bare server's CPU time. */
const MOST_CPU_RATIO = 1.2;
const MOST_LOG_MICROS = 8;

/** The servers in turn, so that other work on the machine affects all of them equally. */
interface Rounds {
  readonly service: Round;
  readonly logging: Round;
  readonly bare: Round;
}

/**
 * Responses from memory, compared with a bare `node:http` server that sends the same body and the same header fields:
 * the cost of the limiter, the metrics, the trusted proxy and the caches, and of the access log.
 */
export function bench(print: Print): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const load = createLoadGenerator();
    const results = { 'hot JSON': [] as Rounds[], 'hot image': [] as Rounds[] };
    for (let number = 1; number <= STARTS; number += 1) {
      print(`start ${number} of ${STARTS}`);
      const service = await startPinnedService(join(directory, 'service'));
      const logging = await startPinnedService(join(directory, 'logging'), { ACCESS_LOG: 'on', LOG_LEVEL: 'info' });
      try {
        const compared = { service, logging, load, directory, print };
        results['hot JSON'].push(...(await compare(RECORD_PATH, compared)));
        results['hot image'].push(...(await compare(IMAGE_PATH, compared)));
      } finally {
        await stopProcess(service);
        await stopProcess(logging);
      }
    }
    return Object.entries(results).flatMap(([what, rounds]) => rowsOf(what, rounds));
  });
}

interface Compared {
  readonly service: ServiceProcess;
  readonly logging: ServiceProcess;
  readonly load: LoadGenerator;
  readonly directory: string;
  readonly print: Print;
}

async function compare(path: string, { service, logging, load, directory, print }: Compared): Promise<Rounds[]> {
  // The second response, because the first one is a miss.
  for (const each of [service, logging]) await probe(each.base + path);
  const response = await probe(service.base + path);
  print(`${path}: ${response.body.length} bytes, ${response.headers.length} header fields`);
  const bare = await startBareServer(join(directory, 'bare'), response);
  try {
    for (const each of [bare, logging]) assertSameResponse(response, await probe(each.base + path));
    for (const server of [service, logging, bare]) await load.run(server, path, WARM_UP_SECONDS);
    const rounds: Rounds[] = [];
    const runRound = (server: LoadedServer) => load.run(server, path, ROUND_SECONDS);
    for (let number = 1; number <= ROUNDS_PER_START; number += 1) {
      const round = { service: await runRound(service), logging: await runRound(logging), bare: await runRound(bare) };
      rounds.push(round);
      print(`  ${JSON.stringify(round)}`);
    }
    for (const each of [service, logging]) await assertAllGood(each);
    return rounds;
  } finally {
    await stopProcess(bare);
  }
}

/** A response as received. */
interface Reply {
  /** Names and values in order, without the fields that Node adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

const BARE_SERVER = fileURLToPath(new URL('bare-server.ts', import.meta.url));

/** A bare `node:http` server that sends this one response. */
async function startBareServer(directory: string, { headers, body }: Reply) {
  await mkdir(directory, { recursive: true });
  const headersPath = join(directory, 'headers.json');
  const bodyPath = join(directory, 'body');
  await writeFile(headersPath, JSON.stringify(headers));
  await writeFile(bodyPath, body);
  const [command, ...args] = [...ON_SERVER_CORE, process.execPath, BARE_SERVER, headersPath, bodyPath];
  const server = startProcess(command, args);
  const [, port] = await server.printed(/listening on (\d+)/);
  return { ...server, pid: server.child.pid as number, base: `http://127.0.0.1:${port}` };
}

/** Addresses from the documentation range. No round uses them, and each stays within its limit. */
const PROBE_ADDRESSES = 250;
const WRITTEN_BY_NODE: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive']);
let probes = 0;

/** Throws if the response is not a 200. */
async function probe(url: string): Promise<Reply> {
  probes += 1;
  const sent = request(url, { headers: { 'X-Forwarded-For': `192.0.2.${probes % PROBE_ADDRESSES}` } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}: ${body}`);
  const headers: [string, string][] = [];
  for (let at = 0; at < response.rawHeaders.length; at += 2) {
    const name = response.rawHeaders[at] as string;
    if (!WRITTEN_BY_NODE.has(name.toLowerCase())) headers.push([name, response.rawHeaders[at + 1] as string]);
  }
  return { headers, body };
}

function assertSameResponse(expected: Reply, actual: Reply): void {
  const namesOf = ({ headers }: Reply) => headers.map(([name]) => name.toLowerCase()).join();
  if (!actual.body.equals(expected.body)) throw new Error('The servers send different bodies.');
  if (namesOf(actual) !== namesOf(expected)) throw new Error('The servers send different header fields.');
}

function rowsOf(what: string, rounds: readonly Rounds[]): Row[] {
  const summaryOf = (figure: (round: Rounds) => number) => summarize(rounds.map(figure));
  const cpu = summaryOf(({ service, bare }) => service.cpuMicrosPerResponse / bare.cpuMicrosPerResponse);
  const log = summaryOf(({ service, logging }) => logging.cpuMicrosPerResponse - service.cpuMicrosPerResponse);
  const bothOf = (figure: 'cpuMicrosPerResponse' | 'responsesPerSecond', digits: number) => {
    const own = summaryOf(({ service }) => service[figure]);
    const other = summaryOf(({ bare }) => bare[figure]);
    return `${formatSummary(own, digits)} / ${formatSummary(other, digits)}`;
  };
  return [
    {
      part: 'hot',
      what: `${what}: Pennant / bare, CPU time of a response`,
      measured: `${formatSummary(cpu, 2)}; ${bothOf('cpuMicrosPerResponse', 1)} µs`,
      target: `at most ${MOST_CPU_RATIO.toFixed(2)}`,
      isMet: cpu.median <= MOST_CPU_RATIO,
      figures: { rounds },
    },
    {
      part: 'hot',
      what: `${what}: access log, CPU time of a response`,
      measured: `${formatSummary(log, 1)} µs more`,
      target: `at most ${MOST_LOG_MICROS} µs more`,
      isMet: log.median <= MOST_LOG_MICROS,
    },
    { part: 'hot', what: `${what}: Pennant / bare, returns a second`, measured: bothOf('responsesPerSecond', 0) },
  ];
}
