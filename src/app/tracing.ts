import type { TracingSettings } from '../domain/tracing-settings.ts';
import type { Logger } from '../lib/logger.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { PartStates } from './component-health.ts';

export interface TracingOptions {
  /** `undefined`: nothing is traced. */
  readonly settings: TracingSettings | undefined;
  readonly version: string;
  readonly logger: Logger;
  readonly states: PartStates;
}

/** Loads what traces need only where they are wanted: it takes longer to start than all else together. */
export async function createTracing({
  settings,
  version,
  logger,
  states,
}: TracingOptions): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { createOpenTelemetry } = await import('../lib/tracing/open-telemetry.ts');
  return createOpenTelemetry({
    settings,
    version,
    onStateChange: (problem) => states.report('traces', problem === null ? null : `cannot be sent (${problem})`),
    onDiagnostic: (message) => logger.debug({ part: 'traces' }, message),
  });
}
