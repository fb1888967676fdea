import type { CanaryState, SourceStatus } from '../domain/source-status.ts';

export interface SourceReading {
  readonly name: string;
  /** `null`: no breaker. */
  readonly breaker: 'closed' | 'open' | 'half-open' | null;
  readonly status?: SourceStatus | undefined;
}

/** Problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, breaker, status }: SourceReading): (readonly [name: string, detail: string])[] {
  const { clientVersion, canary } = status ?? {};
  const isPaused = breaker !== null && breaker !== 'closed';
  const problems = [
    [name === 'image hosts' ? name : `source ${name}`, isPaused ? `circuit breaker ${breaker}` : null],
    ['YouTube client version', clientVersion?.problem ?? null],
    ['YouTube canary', canary === undefined ? null : describeCanary(canary)],
  ] as const;
  return problems.flatMap(([problemName, detail]) => (detail === null ? [] : [[problemName, detail] as const]));
}

function describeCanary({ name, gone, failure }: CanaryState): string | null {
  if (failure !== null) return `the check of ${name} failed: ${failure}`;
  return gone.length === 0 ? null : `${name} no longer has these fields: ${gone.join(', ')}`;
}
