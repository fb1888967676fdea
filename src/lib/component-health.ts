import type { FailureLog } from './failure-log.ts';
import { describeFailure } from './logger.ts';

/** Which components of the service cannot be used at the moment, and why. */
export function createComponentHealth({ report: log }: Pick<FailureLog, 'report'>) {
  const details = new Map<string, string>();

  return {
    /**
     * A change is logged. Another reason for the same state appears in `/readyz` only.
     *
     * @param detail a sentence without its subject; `null`: the component works again
     * @param error the reason, if the detail does not say it
     */
    report(name: string, detail: string | null, error?: unknown): void {
      const isChange = (detail !== null) !== details.has(name);
      if (detail === null) details.delete(name);
      else details.set(name, error === undefined ? detail : `${detail} (${describeFailure(error)})`);
      if (!isChange) return;
      const message = detail === null ? `${name} works again` : `${name}: ${detail}`;
      const fields = { condition: name, ...(error !== undefined && { reason: describeFailure(error) }) };
      log({ level: detail === null ? 'info' : 'warn', key: `${name} ${detail === null}`, message, fields });
    },
    conditions: () => [...details].map(([name, detail]) => ({ name, detail })),
  };
}
