import { Gauge, Registry } from '@prometheus-io/client';
import type { Clock } from './clock.ts';
import { type ComponentHealth, createComponentHealth } from './component-health.ts';
import { createFailureLog, type FailureLog } from './failure-log.ts';
import { countDroppedLines, type Logger } from './logger.ts';
import { addCounter } from './metrics.ts';

/** What all components of a service share. */
export interface Runtime {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Failures that may come by the thousand: equal ones get one line a minute. */
  readonly failureLog: FailureLog;
  /** Components that cannot be used at the moment, and why. `/readyz` and the console show it. */
  readonly health: ComponentHealth;
  /** What each component counts and measures. */
  readonly metrics: Registry;
}

export function createRuntime({ clock, logger }: Pick<Runtime, 'clock' | 'logger'>): Runtime {
  const metrics = new Registry();
  const failureLog = createFailureLog({ logger, clock });
  const health = createComponentHealth(failureLog);
  const dropped = 'Log lines that were dropped because the reader of the log was too slow.';
  addCounter(metrics, 'pennant_log_lines_dropped_total', dropped, countDroppedLines);
  new Gauge({
    name: 'pennant_part_degraded',
    help: '1 for a component that cannot be used at the moment, or a field that most channels lack.',
    labelNames: ['part'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const { name } of health.conditions()) this.set({ part: name }, 1);
    },
  });
  return { clock, logger, metrics, health, failureLog };
}
