import type { CanaryState, SourceState, SourceStatus } from '../domain/source-status.ts';

export interface SourceReading extends SourceState {
  readonly name: string;
  readonly status?: SourceStatus | undefined;
}

/** Problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, problems, status }: SourceReading): (readonly [name: string, detail: string])[] {
  const { canary } = status ?? {};
  const prefix = name === 'image hosts' ? '' : 'source ';
  const failure = canary === undefined ? null : describeCanary(canary);
  return [
    ...problems.map((problem) => [`${prefix}${problem.name}`, problem.description] as const),
    ...(failure === null ? [] : [['YouTube canary', failure] as const]),
  ];
}

function describeCanary({ name, gone, failure }: CanaryState): string | null {
  if (failure !== null) return `the check of ${name} failed: ${failure}`;
  return gone.length === 0 ? null : `no longer found with ${name}: ${gone.join(', ')}`;
}
