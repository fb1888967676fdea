import { currentSpan, failSpan, recordFailure, startChild } from '../../lib/tracing.ts';
import type { EndReason } from './child.ts';
import type { EncoderTask } from './job.ts';

/** For metrics and traces. `re-encode`: an encode in the background. */
export type TaskName = EncoderTask['kind'] | 're-encode';

/**
 * The stages of a task as spans of the request that submits it: the wait for an encoder process, and the time in it. The
 * last one ends with the result. Returns a function that starts the next one, also when a process has failed.
 */
export function traceTask(task: TaskName, result: Promise<unknown>) {
  const parent = currentSpan();
  if (parent === undefined) return undefined;
  const startStage = (name: string) => startChild(parent, { name, attributes: { 'pennant.encoder.task': task } });
  let stage = startStage('encoder queue');
  result.catch((error: unknown) => recordFailure(stage, error)).finally(() => stage.end());
  return (name: 'encoder queue' | 'encoder task', failure?: EndReason) => {
    if (failure !== undefined) failSpan(stage, failure);
    stage.end();
    stage = startStage(name);
  };
}
