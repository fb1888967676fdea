import { runInSpan } from '../lib/tracing.ts';
import type { RequestContext, Step } from './request/context.ts';
import type { RequestTracing } from './request/tracing.ts';
import type { HttpResponse } from './response/response.ts';

export interface Pipeline {
  /** Absent when nothing is traced. */
  readonly tracing: RequestTracing | undefined;
  /** In order. The first response ends them. */
  readonly steps: readonly Step[];
  /** Sends the response that a step returned. */
  readonly finish: (context: RequestContext, response: HttpResponse) => void;
  /** Sends the error that a step threw. */
  readonly fail: (context: RequestContext, error: unknown) => void;
}

/** Runs a request through the pipeline, in a span when it is traced. */
export function runPipeline(pipeline: Pipeline, context: RequestContext): void {
  const span = pipeline.tracing?.start(context);
  if (span === undefined) run(pipeline, context);
  else runInSpan(span, () => run(pipeline, context));
}

/** Without a promise as long as no step returns one. */
function run(pipeline: Pipeline, context: RequestContext): void {
  const { finish, fail } = pipeline;
  try {
    const response = runSteps(pipeline, context, 0);
    if (response instanceof Promise)
      response.then((ready) => finish(context, ready)).catch((error) => fail(context, error));
    else finish(context, response);
  } catch (error) {
    fail(context, error);
  }
}

function runSteps(pipeline: Pipeline, context: RequestContext, first: number): HttpResponse | Promise<HttpResponse> {
  const { steps } = pipeline;
  for (let at = first; at < steps.length; at += 1) {
    const response = (steps[at] as Step)(context);
    if (response instanceof Promise) return response.then((ready) => ready ?? runSteps(pipeline, context, at + 1));
    if (response !== undefined) return response;
  }
  throw new Error('No step of the pipeline returned a response.');
}
