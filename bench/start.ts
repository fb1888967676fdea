import { startService } from '../test/helpers/process.ts';
import { fetchGood } from './answer.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const STARTS = 5;
const TARGET_MS = 500;
const CHANNEL_ID = 'UCPennantSample00000001A';
const PATHS = { record: `/api/channel/${CHANNEL_ID}`, picture: `/${CHANNEL_ID}/desktop.avif` } as const;
type Asked = keyof typeof PATHS;

/** The time from the start of the process to the first response, with a directory that an earlier process has filled. */
export function benchStart(): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    await fill(directory);
    const rows: Row[] = [];
    for (const asked of Object.keys(PATHS) as Asked[]) {
      const times: number[] = [];
      for (let number = 0; number < STARTS; number += 1) times.push(await firstAnswerMs(directory, PATHS[asked]));
      rows.push(rowOf(asked, times));
    }
    return rows;
  });
}

async function fill(directory: string): Promise<void> {
  const service = await startService({ directory });
  for (const path of Object.values(PATHS)) await fetchGood(service.base + path);
  await stopProcess(service.child);
}

async function firstAnswerMs(directory: string, path: string): Promise<number> {
  const startedMs = performance.now();
  const service = await startService({ directory });
  await fetchGood(service.base + path);
  const ms = performance.now() - startedMs;
  await stopProcess(service.child);
  return ms;
}

function rowOf(asked: Asked, times: readonly number[]): Row {
  const summary = summarize(times);
  return {
    part: 'start',
    what: `from the start to the first response, a stored ${asked}`,
    measured: `${formatSummary(summary, 0)} ms`,
    target: `at most ${TARGET_MS} ms`,
    isMet: summary.median <= TARGET_MS,
    figures: { times },
  };
}
