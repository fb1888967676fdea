import { Gauge, Registry } from '@prometheus-io/client';
import type { Clock } from './clock.ts';
import { createComponentHealth } from './component-health.ts';
import { createFailureLog } from './failure-log.ts';
import { countDroppedLines, type Logger } from './logger.ts';
import { addCounter } from './metrics.ts';

export type Runtime = ReturnType<typeof createRuntime>;

/** What all components of a service share. */
export function createRuntime({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
  const metrics = new Registry();
  const failureLog = createFailureLog({ logger, clock });
  const health = createComponentHealth(failureLog);
  const dropped = 'Log lines that were dropped because the reader of the log was too slow.';
  addCounter(metrics, 'pennant_log_lines_dropped_total', dropped, countDroppedLines);
  new Gauge({
    name: 'pennant_part_degraded',
    help: '1 for a component that cannot be used at the moment.',
    labelNames: ['part'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const { name } of health.conditions()) this.set({ part: name }, 1);
    },
  });
  return {
    clock,
    logger,
    /** What each component counts and measures. */
    metrics,
    /** Components that cannot be used at the moment, and why. `/readyz` and the console show it. */
    health,
    /** Failures that may come by the thousand: equal ones get one line a minute. */
    failureLog,
  };
}
