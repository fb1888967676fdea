import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { type LoadedServer, type Round, runRound } from './load.ts';
import { installPeers, type PreparedResponse, startPrepared } from './peer-servers.ts';
import { stopProcess } from './processes.ts';
import type { PartOptions, Print, Row } from './report.ts';
import { assertAllGood, SAMPLE_CHANNEL, startPinnedService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATHS = {
  record: `/api/channel/${SAMPLE_CHANNEL}`,
  /** About 110 KB, like typical banners. */
  image: `/${SAMPLE_CHANNEL}/desktop.jpg?quality=90`,
};

/** How often the servers are started: two processes of the same program may differ by a fifth. */
const STARTS = { thorough: 3, quick: 1 };
const ROUNDS_PER_START = 3;
const ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 3;

/** The ratio to the bare server. Fastify with a rate limit has 1.25; clients, conditions and metrics are the rest. */
const MOST_CPU_RATIO = 1.75;

/** The servers in turn, so that other work on the machine affects all of them equally. */
interface Rounds {
  readonly service: Round;
  readonly bare: Round;
  readonly fastify: Round;
}

/**
 * Responses from memory, compared with two servers that send the same body and the same header fields: a bare `node:http`
 * server, and a Fastify application with a rate limit.
 */
export function bench(print: Print, { isQuick }: PartOptions): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    await installPeers(directory, ['fastify', '@fastify/rate-limit']);
    const results = new Map<string, Rounds[]>();
    const starts = isQuick ? STARTS.quick : STARTS.thorough;
    for (let number = 1; number <= starts; number += 1) {
      print(`start ${number} of ${starts}`);
      const service = await startPinnedService(join(directory, 'service'));
      try {
        for (const [what, path] of Object.entries(PATHS)) {
          const rounds = await compare(path, { service, directory, print });
          results.set(what, [...(results.get(what) ?? []), ...rounds]);
        }
        await assertAllGood(service);
      } finally {
        await stopProcess(service);
      }
    }
    return [...results].flatMap(([what, rounds]) => rowsOf(what, rounds));
  });
}

interface Compared {
  readonly service: LoadedServer;
  readonly directory: string;
  readonly print: Print;
}

async function compare(path: string, { service, directory, print }: Compared): Promise<Rounds[]> {
  // The second response, because the first one is a miss.
  await probe(service.base + path);
  const response = await probe(service.base + path);
  print(`${path}: ${response.body.length} bytes, ${response.headers.length} header fields`);
  const bare = await startPrepared('bare', directory, response);
  const fastify = await startPrepared('fastify', directory, response);
  try {
    assertSameResponse(response, await probe(bare.base + path));
    const servers = { service, bare, fastify };
    for (const server of Object.values(servers)) await runRound(server, path, WARM_UP_SECONDS);
    const rounds: Rounds[] = [];
    for (let number = 1; number <= ROUNDS_PER_START; number += 1) {
      const round = {
        service: await runRound(service, path, ROUND_SECONDS),
        bare: await runRound(bare, path, ROUND_SECONDS),
        fastify: await runRound(fastify, path, ROUND_SECONDS),
      };
      rounds.push(round);
      print(`  ${JSON.stringify(round)}`);
    }
    return rounds;
  } finally {
    await bare.stop();
    await fastify.stop();
  }
}

/** Addresses from the documentation range. No round uses them, and each stays within its limit. */
const PROBE_ADDRESSES = 250;
const WRITTEN_BY_NODE: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive']);
let probes = 0;

/** Throws if the response is not a 200. */
async function probe(url: string): Promise<PreparedResponse> {
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

function assertSameResponse(expected: PreparedResponse, actual: PreparedResponse): void {
  const namesOf = ({ headers }: PreparedResponse) => headers.map(([name]) => name.toLowerCase()).join();
  if (!actual.body.equals(expected.body)) throw new Error('The servers send different bodies.');
  if (namesOf(actual) !== namesOf(expected)) throw new Error('The servers send different header fields.');
}

function rowsOf(what: string, rounds: readonly Rounds[]): Row[] {
  const summaryOf = (figure: (round: Rounds) => number) => formatSummary(summarize(rounds.map(figure)), 1);
  const ratioTo = (peer: 'bare' | 'fastify') =>
    summarize(rounds.map((round) => round.service.cpuMicrosPerResponse / round[peer].cpuMicrosPerResponse));
  const micros = (['service', 'bare', 'fastify'] as const).map((server) =>
    summaryOf((round) => round[server].cpuMicrosPerResponse),
  );
  const ratio = ratioTo('bare');
  return [
    {
      part: 'hot',
      what: `hot ${what}: Pennant / bare node:http, CPU time of a response`,
      measured: `${formatSummary(ratio, 2)}; Pennant, bare, Fastify: ${micros.join(', ')} µs`,
      target: `at most ${MOST_CPU_RATIO.toFixed(2)}`,
      isMet: ratio.median <= MOST_CPU_RATIO,
      figures: { rounds },
    },
    {
      part: 'hot',
      what: `hot ${what}: Pennant / Fastify with a rate limit, CPU time of a response`,
      measured: formatSummary(ratioTo('fastify'), 2),
    },
  ];
}
