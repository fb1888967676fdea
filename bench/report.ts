import { formatTable } from '../src/cli/command.ts';

/** One line of the table at the end. */
export interface Row {
  readonly part: string;
  readonly what: string;
  readonly measured: string;
  /** The target as text. Absent for a figure that is only informative. */
  readonly target?: string;
  readonly isMet?: boolean;
  /** The figures behind the line, for `--json`. */
  readonly figures?: object;
}

export type Print = (line: string) => void;

export interface PartOptions {
  /** A quick part has fewer rounds and images. */
  readonly isQuick: boolean;
}

/** Runs one part of the bench. It may print its progress. */
export type Part = (print: Print, options: PartOptions) => Promise<Row[]>;

const HEADINGS = ['part', 'what', 'measured', 'target', ''];

export function formatRows(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.part, row.what, row.measured, row.target ?? '', verdictOf(row)]);
  return formatTable([HEADINGS, ...cells]);
}

function verdictOf({ isMet }: Row): string {
  if (isMet === undefined) return '';
  return isMet ? 'PASS' : 'MISS';
}
