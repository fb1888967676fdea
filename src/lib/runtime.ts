import type { Clock } from './clock.ts';
import { type ComponentHealth, createComponentHealth } from './component-health.ts';
import { addHolderGauges, createHolders, type Holders } from './holders.ts';
import type { Logger } from './logger.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { createTroubleLog, type TroubleLog } from './trouble-log.ts';

/** What all components of a service share. Each reports its own health, failures, metrics and memory here. */
export interface Runtime {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly holders: Holders;
  readonly health: ComponentHealth;
  /** For failures that may come by the thousand. */
  readonly failureLog: TroubleLog;
}

export function createRuntime({ clock, logger }: Pick<Runtime, 'clock' | 'logger'>): Runtime {
  const metrics = createMetrics();
  const holders = createHolders();
  const health = createComponentHealth(logger, clock);
  const failureLog = createTroubleLog({ logger, clock });
  addHolderGauges(metrics, holders);
  holders.add('log of failures', failureLog.stats);
  metrics.addGauge({
    name: 'pennant_part_degraded',
    help: '1 for a component that cannot be used at the moment.',
    label: 'part',
    read: () => Object.fromEntries(health.problems().map(([component]) => [component, 1])),
  });
  return { clock, logger, metrics, holders, health, failureLog };
}
