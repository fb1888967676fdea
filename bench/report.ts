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
  /** Fewer rounds and images. */
  readonly isQuick: boolean;
}

/** Runs one part of the bench. It may print its progress. */
export type Part = (print: Print, options: PartOptions) => Promise<Row[]>;

const HEADINGS = ['part', 'what', 'measured', 'target', ''] as const;

export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [row.part, row.what, row.measured, row.target ?? '', verdictOf(row)]);
  return formatColumns([HEADINGS, ...cells]);
}

function verdictOf({ isMet }: Row): string {
  if (isMet === undefined) return '';
  return isMet ? 'PASS' : 'MISS';
}

/** Columns as wide as their widest cell. The first line is the head. */
function formatColumns(lines: ReadonlyArray<readonly string[]>): string {
  const [head = [], ...body] = lines;
  const widths = head.map((_heading, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [format(head), rule, ...body.map(format)].join('\n');
}
