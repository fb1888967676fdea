import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Which parts of the service cannot be used at the moment, and why. */
export interface PartStates {
  /** `null`: it works again. A change is logged once; a further reason for the same state shows in `/readyz` only. */
  report(part: string, problem: string | null, error?: unknown): void;
  problems(): readonly (readonly [part: string, problem: string])[];
  /** Logs the state of parts that have changed more often than was logged. */
  summarize(): void;
}

interface Part {
  problem: string | null;
  /** When the latest lines about it were logged. */
  linesAtMs: number[];
  /** Changes without a line. */
  changes: number;
  error: unknown;
}

/** A part that comes and goes has so many lines a minute; what it does beyond that is summed up. */
const LINES_A_MINUTE = 4;
const MINUTE_MS = 60_000;

export function createPartStates(logger: Logger, clock: Clock): PartStates {
  const parts = new Map<string, Part>();

  function write(name: string, part: Part): void {
    const { problem, error, changes } = part;
    const fields = { part: name, ...(changes > 0 && { changes }) };
    if (problem === null) logger.info(fields, `${name} works again`);
    else logger.warn({ ...fields, err: error }, `${name}: ${problem}`);
    part.linesAtMs = [...part.linesAtMs, clock.monotonic()].slice(-LINES_A_MINUTE);
    part.changes = 0;
  }

  function mayWrite({ linesAtMs }: Part): boolean {
    const [oldest = Number.NEGATIVE_INFINITY] = linesAtMs.slice(-LINES_A_MINUTE);
    return linesAtMs.length < LINES_A_MINUTE || clock.monotonic() - oldest >= MINUTE_MS;
  }

  return {
    report(name, problem, error) {
      const part = parts.get(name) ?? { problem: null, linesAtMs: [], changes: 0, error: undefined };
      parts.set(name, part);
      const isChange = (problem === null) !== (part.problem === null);
      part.problem = problem;
      part.error = error;
      if (!isChange) {
        if (problem !== null) logger.debug({ part: name, err: error }, `${name}: ${problem}`);
      } else if (mayWrite(part)) {
        write(name, part);
      } else {
        part.changes += 1;
      }
    },
    problems: () => [...parts].flatMap(([name, { problem }]) => (problem === null ? [] : [[name, problem] as const])),
    summarize() {
      for (const [name, part] of parts) if (part.changes > 0 && mayWrite(part)) write(name, part);
    },
  };
}
