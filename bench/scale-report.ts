import type { Row } from './report.ts';
import { summarize } from './statistics.ts';

/** The two compared sizes, or the same figure at both. */
export interface Pair {
  readonly small: number;
  readonly large: number;
}

interface Limit {
  readonly target: string;
  isMet(figures: Pair): boolean;
}

/** The figure does not grow with the size. */
export const CONSTANT: Limit = { target: 'at most 2 times', isMet: ({ small, large }) => large <= 2 * small };

export function atMost(most: number, unit: string): Limit {
  return { target: `at most ${most} ${unit}`, isMet: ({ large }) => large <= most };
}

export function atMostMore(most: number, unit: string): Limit {
  return { target: `at most ${most} ${unit} more`, isMet: ({ small, large }) => large - small <= most };
}

/**
 * One figure at both sizes.
 *
 * @param unit the unit of both figures
 * @param limit absent for a figure that is only informative
 */
export function scaleRow(what: string, sizes: Pair, figures: Pair, unit: string, limit?: Limit): Row {
  const digits = figures.small < 10 ? 2 : 0;
  const [small, large] = [figures.small.toFixed(digits), figures.large.toFixed(digits)];
  return {
    part: 'scale',
    what: `${what}, ${format(sizes.large)} / ${format(sizes.small)}`,
    measured: `${large} / ${small} ${unit} = ${(figures.large / figures.small).toFixed(2)}`,
    ...(limit && { target: limit.target, isMet: limit.isMet(figures) }),
    figures,
  };
}

export function format(count: number): string {
  return count.toLocaleString('en-US');
}

/** The CPU time of each of many consecutive calls, including all threads. Other work does not change it. */
async function cpuTimesOf(count: number, call: (number: number) => unknown): Promise<number[]> {
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
