import type { PauseState, SourceStatus } from '../domain/source-status.ts';

export interface SourceReading {
  readonly name: string;
  /** `undefined`: it is asked. */
  readonly pause: PauseState | undefined;
  readonly status?: SourceStatus | undefined;
}

/** The problem of a source or of the image hosts, if there is one. The service continues despite it. */
export function sourceProblems({ name, pause }: SourceReading): (readonly [name: string, detail: string])[] {
  return pause === undefined ? [] : [[name === 'image hosts' ? name : `source ${name}`, pause.description]];
}
