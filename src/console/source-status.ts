import type { CanaryState, PauseState, SourceStatus } from '../domain/source-status.ts';

export interface SourceReading {
  readonly name: string;
  /** `undefined`: it is asked. */
  readonly pause: PauseState | undefined;
  readonly status?: SourceStatus | undefined;
}

/** Problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, pause, status }: SourceReading): (readonly [name: string, detail: string])[] {
  const { canary } = status ?? {};
  const problems = [
    [name === 'image hosts' ? name : `source ${name}`, pause?.description ?? null],
    ['YouTube canary', canary === undefined ? null : describeCanary(canary)],
  ] as const;
  return problems.flatMap(([problemName, detail]) => (detail === null ? [] : [[problemName, detail] as const]));
}

function describeCanary({ name, gone, failure }: CanaryState): string | null {
  if (failure !== null) return `the check of ${name} failed: ${failure}`;
  return gone.length === 0 ? null : `no longer found with ${name}: ${gone.join(', ')}`;
}
