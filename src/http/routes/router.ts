import findMyWay from 'find-my-way';
import { AppError } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import { withinMs, withRequest } from '../../lib/work.ts';
import { type Endpoint, isAllowedMethod, type RequestContext, routeNotFound, type Step } from '../request/context.ts';
import { MAX_URL_BYTES } from '../request/target.ts';
import { type HttpResponse, PREFLIGHT } from '../response/response.ts';

export interface Router {
  /** The endpoint of a request, whatever else is wrong with it. `undefined` when there is none. */
  find(context: RequestContext): Endpoint | undefined;
  /** The step that sets `endpoint` and `pathParameters`. @throws AppError `route_not_found` */
  route(context: RequestContext): undefined;
}

export function createRouter(endpoints: readonly Endpoint[]): Router {
  const router = findMyWay({ maxParamLength: MAX_URL_BYTES });
  for (const endpoint of endpoints) router.on('GET', endpoint.url, () => undefined, endpoint);
  const match = ({ target }: RequestContext) => router.find('GET', target.path);

  return {
    find(context) {
      const isRoutable = context.target.problem === undefined && isAllowedMethod(context.request.method);
      return isRoutable ? (match(context)?.store as Endpoint | undefined) : undefined;
    },
    route(context) {
      const found = match(context);
      if (found === null) throw routeNotFound();
      context.endpoint = found.store as Endpoint;
      context.pathParameters = found.params;
    },
  };
}

/**
 * The step that reads the parameters: the path first, so that an unknown path is reported before a wrong parameter.
 * A preflight ends here.
 */
export function readParameters(context: RequestContext): HttpResponse | undefined {
  const endpoint = context.endpoint as Endpoint;
  const path = endpoint.parsePath(context.pathParameters);
  if (context.request.method === 'OPTIONS') return PREFLIGHT;
  context.input = endpoint.parseInput(path, context);
  return undefined;
}

/** The step that calls the endpoint. @throws AppError `upstream_timeout` after 11.5 s, and whatever the endpoint throws */
export function createHandlerStep({ clock }: { readonly clock: Clock }): Step {
  return (context) => {
    const { id, client, input } = context;
    const endpoint = context.endpoint as Endpoint;
    const response = withRequest({ requestId: id, client: client.key }, () => endpoint.respond(input, context));
    return response instanceof Promise ? inTime(clock, response) : response;
  };
}

async function inTime(clock: Clock, responding: Promise<HttpResponse>): Promise<HttpResponse> {
  const response = await withinMs(clock, responding, TIME_LIMITS_MS.response);
  if (response !== undefined) return response;
  throw new AppError('upstream_timeout', 'The answer took too long to get: please ask again.');
}
