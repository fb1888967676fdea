import { fileURLToPath } from 'node:url';
import { isInstalled, LOAD_CORE, outputOf, spawnPinned } from './processes.ts';

/** The result of a load generator in one round. */
export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface LoadGenerator {
  readonly name: string;
  /**
   * Sends requests from clients that no earlier round has used. Each connection may pause before a request. Throws if a
   * response has a status of 400 or above, or if a connection fails or takes too long.
   */
  run(url: string, seconds: number, pauseMs?: number): Promise<LoadResult>;
}

const CONNECTIONS = 32;
/** Blocks of 10,000 addresses that one round may use: a million requests, more than any server here answers in it. */
const BLOCKS_PER_ROUND = 12;
const WRK_SCRIPT = fileURLToPath(new URL('wrk-clients.lua', import.meta.url));
const AUTOCANNON_SCRIPT = fileURLToPath(new URL('autocannon-load.ts', import.meta.url));

/** wrk if it is installed, because it needs a fraction of a server's CPU time, otherwise autocannon. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  const isWrk = await isInstalled('wrk');
  let firstBlock = 0;
  return {
    name: isWrk ? 'wrk' : 'autocannon',
    async run(url, seconds, pauseMs = 0) {
      const [command, args] = isWrk
        ? [
            'wrk',
            ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', WRK_SCRIPT, url, '--', `${firstBlock}`, `${pauseMs}`],
          ]
        : [process.execPath, [AUTOCANNON_SCRIPT, url, `${seconds}`, `${CONNECTIONS}`, `${firstBlock}`, `${pauseMs}`]];
      firstBlock += BLOCKS_PER_ROUND;
      const output = await outputOf(spawnPinned(LOAD_CORE, command as string, args as string[]));
      const line = output.split('\n').find((candidate) => candidate.startsWith(RESULT));
      if (line === undefined) throw new Error(`${command} reported no result.`);
      const { refused, broken, ...result } = JSON.parse(line.slice(RESULT.length));
      if (refused > 0 || broken > 0)
        throw new Error(`${url}: ${refused} refused and ${broken} broken, which counts for nothing.`);
      return result as LoadResult;
    },
  };
}

const RESULT = 'RESULT ';
