/** The median and the range of values. */
interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The median and the range of all values: `1.25 (1.10–1.40)`. */
export function formatSummary({ median, lowest, highest }: Summary, digits: number): string {
  return `${median.toFixed(digits)} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;
}

/** Values must not be empty. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (index: number) => sorted[index] as number;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    lowest: at(0),
    highest: at(sorted.length - 1),
  };
}

/** The time that work takes, in milliseconds. */
export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
