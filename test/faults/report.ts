import { loadavg } from 'node:os';
import { formatColumns } from '../../bench/report.ts';

/** One line of the table: what was done to the service, and whether anything was lost by it. */
export interface Row {
  readonly subject: string;
  readonly attack: string;
  readonly measured: string;
  /** How long it took, being measured again included. */
  readonly seconds: number;
  /** Missed: nothing was lost, but it took too much time or memory. */
  readonly verdict: 'held' | 'missed' | 'VIOLATED' | 'skipped';
}

/** What came of an attack, in words. */
export interface Outcome {
  readonly measured: string;
  /** What was lost: an answer, a file, a promise of the contract. None may be. */
  readonly faults: readonly string[];
  /** Bounds on time or memory that were missed. */
  readonly exceeded?: readonly string[];
}

export interface Report {
  /** The service held where there are neither faults nor exceeded bounds. */
  add(subject: string, attack: string, outcome: Outcome, seconds: number): void;
  /** Something that this machine does not allow; named, so that nobody takes it for done. */
  skip(subject: string, attack: string, why: string): void;
  rows(): number;
  violations(): number;
  /** Attacks that lost nothing and took too much time or memory. */
  missedBounds(): number;
  table(): string;
}

/** @param print told of each line as it comes */
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
    table() {
      const bySubject = Object.values(Object.groupBy(rows, ({ subject }) => subject)).flatMap((group) => group ?? []);
      const lines = bySubject.map((row) => [
        row.subject,
        row.attack,
        row.measured,
        row.seconds.toFixed(0),
        row.verdict,
      ]);
      return formatColumns([HEADINGS, ...lines]);
    },
  };
}

function verdictOn(faults: readonly string[], exceeded: readonly string[]): Row['verdict'] {
  if (faults.length > 0) return 'VIOLATED';
  return exceeded.length > 0 ? 'missed' : 'held';
}

const HEADINGS: readonly string[] = ['subject', 'what was done', 'what came of it', 's', 'verdict'];

/** Others use the machine too: a time that was missed means little without this. */
export function loadAverage(): string {
  return `load average ${loadavg()[0]?.toFixed(1)}`;
}

/** The value that this share of the measurements stays below; 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
