import { loadavg } from 'node:os';

/** An attack and its result. */
export interface Row {
  readonly subject: string;
  readonly attack: string;
  readonly measured: string;
  readonly seconds: number;
  /** `missed`: nothing was lost, but it took too much time or memory. */
  readonly verdict: 'held' | 'missed' | 'VIOLATED' | 'skipped';
}

/** The text of a result. */
export interface Outcome {
  readonly measured: string;
  /** Losses: a missing response or file, or a broken promise. None is allowed. */
  readonly faults: readonly string[];
  /** Bounds on time or memory that were missed. */
  readonly exceeded?: readonly string[];
}

export interface Report {
  /** The service passed if there are neither losses nor missed bounds. */
  add(subject: string, attack: string, outcome: Outcome, seconds: number): void;
  /** An attack that is impossible on this machine. It is listed, so that it does not count as passed. */
  skip(subject: string, attack: string, why: string): void;
  rows(): number;
  violations(): number;
  /** Attacks that lost nothing but took too much time or memory. */
  missedBounds(): number;
}

/** @param print gets each line */
export function createReport(print: (line: string) => void): Report {
  const rows: Row[] = [];

  function push(row: Row): void {
    rows.push(row);
    print(`${row.verdict.padEnd(8)}  ${row.subject}: ${row.attack}: ${row.measured} (${row.seconds.toFixed(1)} s)`);
  }

  return {
    add(subject, attack, { measured, faults, exceeded = [] }, seconds) {
      const lost = [...faults, ...exceeded];
      push({ subject, attack, measured, seconds, verdict: verdictOn(faults, exceeded) });
      for (const fault of lost.slice(0, 5)) print(`            ${fault}`);
      if (lost.length > 5) print(`            … and ${lost.length - 5} more`);
    },
    skip(subject, attack, why) {
      push({ subject, attack, measured: why, seconds: 0, verdict: 'skipped' });
    },
    rows: () => rows.length,
    violations: () => rows.filter(({ verdict }) => verdict === 'VIOLATED').length,
    missedBounds: () => rows.filter(({ verdict }) => verdict === 'missed').length,
  };
}

function verdictOn(faults: readonly string[], exceeded: readonly string[]): Row['verdict'] {
  if (faults.length > 0) return 'VIOLATED';
  return exceeded.length > 0 ? 'missed' : 'held';
}

/** The load of the machine by other processes, which is needed to judge a missed time. */
export function loadAverage(): string {
  return `load average ${loadavg()[0]?.toFixed(1)}`;
}

/** The value that this share of the measurements does not exceed. @throws Error without measurements */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new Error('nothing was measured');
  return value;
}
