import { AppError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';
import { withRequest } from '../lib/request-scope.ts';
import type { Endpoint, EndpointStep, PublicResponse, RequestContext, ResponseStep, Step } from './request/context.ts';
import { parseQuery, readQuery } from './request/parameters.ts';
import { applyConditions } from './response/conditions.ts';
import { asAppError, problemResponse } from './response/problems.ts';
import { PREFLIGHT } from './response/send.ts';

/** A request without a result this long after its arrival gets an error. Its load continues for the next request. */
export const RESPONSE_MS = 11_500;

/**
 * Returns the function that runs a request through the steps. It uses promises only if a step returns one.
 *
 * @param steps run in order until one of them returns a response
 * @param responseSteps run in order for every response, also for the problem response that an error becomes
 */
export function createPipeline(steps: readonly Step[], responseSteps: readonly ResponseStep[]) {
  function runSteps(context: RequestContext, first: number): PublicResponse | Promise<PublicResponse> {
    for (let at = first; at < steps.length; at += 1) {
      const response = (steps[at] as Step)(context);
      if (response instanceof Promise) return response.then((ready) => ready ?? runSteps(context, at + 1));
      if (response !== undefined) return response;
    }
    throw new Error('No step of the pipeline returned a response.');
  }

  function finish(context: RequestContext, made: PublicResponse): void {
    let response = made;
    for (const step of responseSteps) response = step(context, response) ?? response;
  }

  function fail(context: RequestContext, thrown: unknown): void {
    const { response } = context;
    if (response.headersSent || response.destroyed) return;
    finish(context, problemResponse(asAppError(thrown), context));
  }

  return (context: RequestContext): void => {
    try {
      const response = runSteps(context, 0);
      if (response instanceof Promise)
        response.then((ready) => finish(context, ready)).catch((error) => fail(context, error));
      else finish(context, response);
    } catch (error) {
      fail(context, error);
    }
  };
}

/**
 * The step that reads the path and the query, and calls the endpoint. A preflight ends after its path is read. The body
 * of an image is encoded only if the conditions of the request need it.
 *
 * @throws AppError after the endpoint's `responseMs` (`upstream_timeout`, or `overloaded` while an image is encoded), and the
 * errors of the endpoint
 */
export function createEndpointStep(clock: Clock): EndpointStep {
  return async (context) => {
    const { id: requestId, client, request, receivedAtMs } = context;
    const endpoint = context.endpoint as Endpoint;
    const { query: parameters = {}, responseMs = RESPONSE_MS, respondToError } = endpoint;
    const query = readQuery(parameters, parseQuery(context.target.query));

    async function inTime(work: PublicResponse | Promise<PublicResponse>, late: AppError): Promise<PublicResponse> {
      const response = await withinMs(clock, Promise.resolve(work), receivedAtMs + responseMs - clock.monotonic());
      if (response === undefined) throw late;
      return response;
    }

    async function respond(): Promise<PublicResponse> {
      const path = endpoint.parsePath?.(context.pathParameters);
      if (request.method === 'OPTIONS') return PREFLIGHT;
      if (query.error !== undefined) throw query.error;
      const found = await inTime(endpoint.respond({ path, query: query.values }, context), NO_ANSWER);
      const response = applyConditions(context, found);
      return response.complete === undefined ? response : inTime(response.complete(), NOT_ENCODED);
    }

    try {
      return await withRequest({ requestId, client }, respond);
    } catch (thrown) {
      if (respondToError === undefined || request.method === 'OPTIONS') throw thrown;
      const error = asAppError(thrown);
      return applyConditions(context, { ...(await respondToError(error, query.values)), error });
    }
  };
}

const NO_ANSWER = new AppError('upstream_timeout', 'The response took too long. Try again.');
const NOT_ENCODED = new AppError('overloaded', 'The image is not encoded yet. Try again.');
