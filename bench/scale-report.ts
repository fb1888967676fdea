import type { Row } from './report.ts';
import { summarize } from './statistics.ts';

export interface Sizes {
  readonly small: number;
  readonly large: number;
}

/** The same figure at both sizes. */
export interface Pair {
  readonly small: number;
  readonly large: number;
}

/** A figure is constant if the larger one is at most this multiple of the one at 10,000 entries. */
const MAX_GROWTH = 2;

/** @param unit the unit of both figures */
export function flatRow(what: string, { small, large }: Sizes, figures: Pair, unit: string): Row {
  const growth = figures.large / figures.small;
  const digits = figures.small < 10 ? 2 : 0;
  const [first, second] = [figures.small, figures.large].map((figure) => figure.toFixed(digits));
  return {
    part: 'scale',
    what: `${what}, CPU time, ${format(large)} / ${format(small)}`,
    measured: `${second} / ${first} ${unit} = ${growth.toFixed(2)}`,
    target: `at most ${MAX_GROWTH}`,
    isMet: growth <= MAX_GROWTH,
    figures,
  };
}

export function format(count: number): string {
  return count.toLocaleString('en-US');
}

/** The CPU time of each of many consecutive calls, including all threads. Other work does not change it. */
export async function cpuTimesOf(count: number, call: (number: number) => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; number < count; number += 1) {
    const before = process.cpuUsage();
    await call(number);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return times;
}

export async function medianCpuMs(count: number, call: (number: number) => unknown): Promise<number> {
  return summarize(await cpuTimesOf(count, call)).median;
}

/** A number from 0 to `count - 1`, evenly distributed, the same on every run. */
export function spread(number: number, count: number): number {
  return (number * 7_919 + 13) % count;
}
