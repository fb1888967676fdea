import { pino } from 'pino';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A logger whose lines the test reads. */
export function recordLog(level = 'info') {
  const lines: LogLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { lines, logger: pino({ level, base: null, timestamp: false }, { write }) };
}
