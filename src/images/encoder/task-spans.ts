import { currentSpan, failSpan, recordFailure, startChild } from '../../lib/tracing.ts';
import type { EndReason } from './child.ts';
import type { EncoderTask } from './job.ts';

/** For metrics and traces. `re-encode`: an encode in the background. */
export type TaskName = EncoderTask['kind'] | 're-encode';

/** Starts the next stage of a task, also after a process has failed. */
export type StartStage = (name: 'encoder queue' | 'encoder task', failure?: EndReason) => void;

/**
 * The stages of a task as spans of the request that submits it: the wait for an encoder process, and the time in it. The
 * last one ends with the result. `undefined` if the request is not traced.
 */
export function traceTask(task: TaskName, result: Promise<unknown>): StartStage | undefined {
  const parent = currentSpan();
  if (parent === undefined) return undefined;
  const startStage = (name: string) => startChild(parent, { name, attributes: { 'pennant.encoder.task': task } });
  let stage = startStage('encoder queue');
  result.catch((error: unknown) => recordFailure(stage, error)).finally(() => stage.end());
  return (name, failure) => {
    if (failure !== undefined) failSpan(stage, failure);
    stage.end();
    stage = startStage(name);
  };
}
