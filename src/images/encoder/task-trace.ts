import { currentSpan, failSpan, recordFailure, startChild } from '../../lib/tracing.ts';
import type { EncoderTask } from './job.ts';

/** The stages of one task as spans: its wait for an encoder process, and its time in one. */
export interface TaskTrace {
  /** It has an encoder process now. */
  begin(): void;
  /** Its process has crashed; it waits for another. */
  waitAgain(): void;
}

/** Of the request that submits the task; `undefined` where that is not traced. The last stage ends with the result. */
export function traceTask(kind: EncoderTask['kind'], result: Promise<unknown>): TaskTrace | undefined {
  const parent = currentSpan();
  if (parent === undefined) return undefined;
  const startStage = (name: string) => startChild(parent, { name, attributes: { 'pennant.encoder.task': kind } });
  let stage = startStage('encoder queue');

  function startNext(name: string): void {
    stage.end();
    stage = startStage(name);
  }

  result.catch((error: unknown) => recordFailure(stage, error)).finally(() => stage.end());
  return {
    begin: () => startNext('encoder task'),
    waitAgain() {
      failSpan(stage, 'crash');
      startNext('encoder queue');
    },
  };
}
