import type { SourceState, SourceStatus } from '../domain/source-status.ts';

export interface SourceReading extends SourceState {
  readonly name: string;
  readonly status?: SourceStatus | undefined;
}

/** The problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, problems }: SourceReading): (readonly [name: string, detail: string])[] {
  const prefix = name === 'image hosts' ? '' : 'source ';
  return problems.map((problem) => [`${prefix}${problem.name}`, problem.description]);
}
