/** The middle value, and how far the others lie from it. */
export interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
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
