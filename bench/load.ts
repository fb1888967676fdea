import { fileURLToPath } from 'node:url';
import { startProcess } from '../test/helpers/process.ts';
import { cpuSeconds, isInstalled, ON_LOAD_CORE } from './processes.ts';

if (!isInstalled('wrk')) throw new Error('This part needs wrk: apt-get install wrk');

export interface Round {
  readonly responses: number;
  /** The server's CPU time per response, which is meaningful even while other work uses its core. */
  readonly cpuMicrosPerResponse: number;
}

export interface LoadedServer {
  readonly base: string;
  readonly pid: number;
}

const CONNECTIONS = 32;
/** Blocks of 10,000 addresses that one round may use: a million requests, more than any server here responds to in it. */
const BLOCKS_PER_ROUND = 12;
const WRK_SCRIPT = fileURLToPath(new URL('wrk-clients.lua', import.meta.url));

let firstBlock = 0;

/**
 * Sends requests from clients that no earlier round has used.
 *
 * @throws Error if a response has a status of 400 or above, or if a connection fails or takes too long
 */
export async function runRound({ base, pid }: LoadedServer, path: string, seconds: number): Promise<Round> {
  const url = base + path;
  // Wrk needs a fraction of a server's CPU time.
  const command = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', WRK_SCRIPT, url, '--'];
  const cpuBefore = await cpuSeconds(pid);
  const result = await runLoad([...command, `${firstBlock}`]);
  const cpu = (await cpuSeconds(pid)) - cpuBefore;
  firstBlock += BLOCKS_PER_ROUND;
  if (result.refused > 0 || result.broken > 0) {
    throw new Error(`${url}: ${result.refused} refused and ${result.broken} broken, which counts for nothing.`);
  }
  return { responses: result.responses, cpuMicrosPerResponse: (cpu / result.responses) * 1e6 };
}

/** What wrk-clients.lua prints on a line of its own. */
interface LoadResult {
  readonly responses: number;
  readonly refused: number;
  readonly broken: number;
}

async function runLoad(loadCommand: readonly string[]): Promise<LoadResult> {
  const [command, ...args] = [...ON_LOAD_CORE, ...loadCommand];
  const load = startProcess(command, args);
  await load.closed;
  const [, json] = /^RESULT (.*)$/m.exec(load.stdout()) ?? [];
  if (json === undefined) throw new Error(`${loadCommand[0]} reported no result:\n${load.output()}`);
  return JSON.parse(json);
}
