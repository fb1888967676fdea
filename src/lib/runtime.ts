import type { Clock } from './clock.ts';
import { createComponentHealth } from './component-health.ts';
import { createFailureLog } from './failure-log.ts';
import { addHolderGauges, createHolders } from './holders.ts';
import { type Logger, logOutputStats } from './logger.ts';
import { createMetrics } from './metrics/metrics.ts';

/** What all components of a service share. Each reports its own health, failures, metrics and memory here. */
export type Runtime = ReturnType<typeof createRuntime>;

export function createRuntime({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
  const metrics = createMetrics();
  const holders = createHolders();
  const health = createComponentHealth(logger, clock);
  /** For failures that may come by the thousand. */
  const failureLog = createFailureLog({ logger, clock });
  addHolderGauges(metrics, holders);
  holders.add('log of failures', failureLog.stats);
  holders.add('log lines being written', () => logOutputStats().waiting);
  metrics.addCounter({
    name: 'pennant_log_lines_dropped_total',
    help: 'Log lines that were dropped because the reader of the log was too slow.',
    read: () => logOutputStats().droppedLines,
  });
  metrics.addGauge({
    name: 'pennant_part_degraded',
    help: '1 for a component that cannot be used at the moment.',
    label: 'part',
    read: () => Object.fromEntries(health.problems().map(([component]) => [component, 1])),
  });
  return { clock, logger, metrics, holders, health, failureLog };
}
