import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../test/helpers/service-process.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { summarize } from './statistics.ts';

const STARTS = 5;
const TARGET_MS = 500;
const CHANNEL_ID = 'UCPennantSample00000001A';
const PATHS = { record: `/api/channel/${CHANNEL_ID}`, picture: `/${CHANNEL_ID}/desktop.avif` } as const;
type Asked = keyof typeof PATHS;

/** From the start of the process to the first answer, on a directory that an earlier process has filled. */
export async function benchStart(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-bench-start-'));
  try {
    await fill(directory);
    const rows: Row[] = [];
    for (const asked of Object.keys(PATHS) as Asked[]) {
      const times: number[] = [];
      for (let number = 0; number < STARTS; number += 1) times.push(await firstAnswerMs(directory, PATHS[asked]));
      rows.push(rowOf(asked, times));
    }
    return rows;
  } finally {
    await rm(directory, { recursive: true });
  }
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

async function fetchGood(url: string): Promise<void> {
  const response = await fetch(url);
  const body = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${Buffer.from(body)}`);
}

function rowOf(asked: Asked, times: readonly number[]): Row {
  const { median, lowest, highest } = summarize(times);
  return {
    part: 'start',
    what: `from the start to the first answer, a stored ${asked}`,
    measured: `${median.toFixed(0)} (${lowest.toFixed(0)}–${highest.toFixed(0)}) ms`,
    target: `at most ${TARGET_MS} ms`,
    isMet: median <= TARGET_MS,
    figures: { times },
  };
}
