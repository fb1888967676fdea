import type { LoadGenerator, LoadResult } from './load.ts';
import { cpuSeconds } from './processes.ts';
import type { BenchServer } from './servers.ts';

export interface Round extends LoadResult {
  readonly answersPerSecond: number;
  /** The server's CPU time per response, which is meaningful even while other work uses its core. */
  readonly cpuMicrosPerAnswer: number;
  /** The share of its core that the server had. Well below 1, the load generator or other work was the limit. */
  readonly busyShare: number;
}

/** Loads one server for some seconds. `pauseMs` as for `LoadGenerator.run`. */
export async function runRound(
  { url, pid }: BenchServer,
  path: string,
  load: LoadGenerator,
  seconds: number,
  pauseMs = 0,
): Promise<Round> {
  const cpuBefore = await cpuSeconds(pid);
  const result = await load.run(url + path, seconds, pauseMs);
  const cpu = (await cpuSeconds(pid)) - cpuBefore;
  return {
    ...result,
    answersPerSecond: result.answers / result.seconds,
    cpuMicrosPerAnswer: (cpu / result.answers) * 1e6,
    busyShare: cpu / result.seconds,
  };
}
