import type { Logger } from '../lib/logger.ts';

/** Which parts of the service cannot be used at the moment, and why. */
export interface PartStates {
  /** `null`: it works again. A change is logged once; a further reason for the same state shows in `/readyz` only. */
  report(part: string, problem: string | null, error?: unknown): void;
  problems(): readonly (readonly [part: string, problem: string])[];
}

export function createPartStates(logger: Logger): PartStates {
  const problems = new Map<string, string>();
  return {
    report(part, problem, error) {
      if (problem === null) {
        problems.delete(part);
        logger.info({ part }, `${part} works again`);
      } else {
        logger[problems.has(part) ? 'debug' : 'warn']({ part, err: error }, `${part}: ${problem}`);
        problems.set(part, problem);
      }
    },
    problems: () => [...problems],
  };
}
