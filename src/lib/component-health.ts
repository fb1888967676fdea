import type { FailureLog } from './failure-log.ts';
import { describeFailure } from './logger.ts';

/** Which components of the service cannot be used at the moment, and why. */
export interface ComponentHealth {
  /**
   * A change is logged. Another reason for the same state appears in `/readyz` only.
   *
   * @param problem a sentence without its subject; `null`: the component works again
   * @param error the reason, if the problem does not say it
   */
  report(name: string, problem: string | null, error?: unknown): void;
  /** The components with a problem, and the reasons. */
  problems(): readonly (readonly [name: string, problem: string])[];
}

export function createComponentHealth({ report: log }: Pick<FailureLog, 'report'>): ComponentHealth {
  const problems = new Map<string, string>();

  return {
    report(name, problem, error) {
      const isChange = (problem !== null) !== problems.has(name);
      if (problem === null) problems.delete(name);
      else problems.set(name, error === undefined ? problem : `${problem} (${describeFailure(error)})`);
      if (!isChange) return;
      const message = problem === null ? `${name} works again` : `${name}: ${problem}`;
      const fields = { part: name, ...(error !== undefined && { reason: describeFailure(error) }) };
      log({ level: problem === null ? 'info' : 'warn', key: `${name} ${problem === null}`, message, fields });
    },
    problems: () => [...problems],
  };
}
