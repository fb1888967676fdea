import type { IncomingMessage, ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import { AppError } from '../domain/errors.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Clock } from '../lib/clock.ts';
import { runInSpan } from '../lib/tracing.ts';
import { withinMs, withRequest } from '../lib/work.ts';
import {
  type Endpoint,
  type HttpResponse,
  METHODS,
  type RequestContext,
  routeNotFound,
  type Step,
} from './request/context.ts';
import { findHint } from './request/hints.ts';
import { MAX_URL_BYTES } from './request/target.ts';
import type { createRequestTracing } from './request/tracing.ts';
import { problemResponse } from './response/problems.ts';
import { PREFLIGHT } from './response/response.ts';

/** A step for responses. A returned response replaces the given one. */
type ResponseStep = (context: RequestContext, response: HttpResponse) => HttpResponse | undefined;

export interface PipelineOptions {
  readonly createContext: (request: IncomingMessage, response: ServerResponse) => RequestContext;
  readonly tracing: ReturnType<typeof createRequestTracing>;
  readonly router: Pick<Router, 'find'>;
  /** In order. The first response ends them. */
  readonly steps: readonly Step[];
  /** In order. An error becomes a problem response, which also passes them. */
  readonly responseSteps: readonly ResponseStep[];
}

/** Runs each request through the steps, in a span if it is traced. Uses promises only if a step returns one. */
export function createPipeline(options: PipelineOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const { createContext, tracing, router, steps, responseSteps } = options;

  function runSteps(context: RequestContext, first: number): HttpResponse | Promise<HttpResponse> {
    for (let at = first; at < steps.length; at += 1) {
      const response = (steps[at] as Step)(context);
      if (response instanceof Promise) return response.then((ready) => ready ?? runSteps(context, at + 1));
      if (response !== undefined) return response;
    }
    throw new Error('No step of the pipeline returned a response.');
  }

  function finish(context: RequestContext, made: HttpResponse): void {
    let response = made;
    for (const step of responseSteps) response = step(context, response) ?? response;
  }

  /** A client that has disconnected gets no response. */
  function fail(context: RequestContext, error: unknown): void {
    if (context.response.headersSent || context.response.destroyed) return;
    context.endpoint ??= router.find(context);
    finish(context, problemResponse(error, context, findHint(error, context)));
  }

  function run(context: RequestContext): void {
    try {
      const response = runSteps(context, 0);
      if (response instanceof Promise)
        response.then((ready) => finish(context, ready)).catch((error) => fail(context, error));
      else finish(context, response);
    } catch (error) {
      fail(context, error);
    }
  }

  return (request, response) => {
    const context = createContext(request, response);
    const span = tracing?.(context);
    if (span === undefined) run(context);
    else runInSpan(span, () => run(context));
  };
}

export type Router = ReturnType<typeof createRouter>;

export function createRouter(endpoints: readonly Endpoint[]) {
  const router = findMyWay({ maxParamLength: MAX_URL_BYTES });
  for (const endpoint of endpoints) router.on('GET', endpoint.url, () => undefined, endpoint);
  const match = ({ target }: RequestContext) => router.find('GET', target.path);

  return {
    /** The endpoint of a request, even if the request is invalid. `undefined` if there is none. */
    find(context: RequestContext): Endpoint | undefined {
      const isRoutable = context.target.problem === undefined && METHODS.has(context.request.method);
      return isRoutable ? (match(context)?.store as Endpoint | undefined) : undefined;
    },

    /** The step that sets `endpoint` and `pathParameters`. @throws AppError `route_not_found` */
    route(context: RequestContext): undefined {
      const found = match(context);
      if (found === null) throw routeNotFound(context.target.path);
      context.endpoint = found.store as Endpoint;
      context.pathParameters = found.params;
    },
  };
}

/**
 * The step that calls the endpoint. A preflight ends after its path is read.
 *
 * @throws AppError `upstream_timeout` after 11.5 s, and the errors of the endpoint
 */
export function createHandlerStep({ clock }: { readonly clock: Clock }): Step {
  return (context) => {
    const { id, client, request } = context;
    const endpoint = context.endpoint as Endpoint;
    const path = endpoint.parsePath?.(context.pathParameters);
    if (request.method === 'OPTIONS') return PREFLIGHT;
    const response = withRequest({ requestId: id, client: client.key }, () => endpoint.respond(path, context));
    return response instanceof Promise ? inTime(clock, response) : response;
  };
}

async function inTime(clock: Clock, responding: Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await withinMs(clock, responding, TIME_LIMITS_MS.response);
  if (response !== undefined) return response;
  throw new AppError('upstream_timeout', 'The response took too long. Try again.');
}
