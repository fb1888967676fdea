import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import findMyWay from 'find-my-way';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { ExampleChannel } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { quoted } from '../../lib/printable.ts';
import type { ResponseName } from '../openapi/responses.ts';
import type { Client } from './client-identification.ts';
import type { Parameters, Values } from './parameters.ts';
import { createBaseFinder, MAX_URL_BYTES, parseTarget, type RequestTarget } from './target.ts';

/** Everything that the request pipeline knows about one request. */
export interface RequestContext {
  readonly id: string;
  /** The time on the monotonic clock. */
  readonly receivedAtMs: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Why the client's bytes did not become a request. */
  readonly fault: AppError | undefined;
  readonly target: RequestTarget;
  /** The beginning of URLs in the response, as the client reaches the service. Empty when it is unknown. */
  readonly base: string;
  readonly client: Client;
  /** `RateLimit…` fields of the response. */
  limitHeaders: Readonly<Record<string, string>>;
  /** `undefined` if there is nothing at the path. */
  readonly endpoint: Endpoint | undefined;
  readonly pathParameters: PathParameters;
  /** True when the response's format follows `Accept`. Errors then carry `Vary` too. */
  isNegotiated: boolean;
}

/** A response as data. The fields that every response carries are added when it is sent. */
export interface PublicResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Where a looked-up value came from. */
  readonly outcome?: CacheOutcome | undefined;
  /** Set if the response shows an error, also as a badge with a 200. A bug is `internal`, and its cause is whatever was thrown. */
  readonly error?: AppError | undefined;
  /** Encodes the body of an image. Not called for a 304. */
  readonly complete?: () => Promise<PublicResponse>;
  /** Called when the body has been written. It must close the connection, because the response ends with it. */
  readonly onSent?: () => void;
}

/**
 * Returns the response, or nothing to continue with the next step.
 *
 * @throws AppError if the request is refused
 */
export type Step = (context: RequestContext) => PublicResponse | undefined | Promise<PublicResponse | undefined>;

/** The last step. */
export type EndpointStep = (context: RequestContext) => Promise<PublicResponse>;

/** A step for responses. A returned response replaces the given one. */
export type ResponseStep = (context: RequestContext, response: PublicResponse) => PublicResponse | undefined;

/** The parameters are decoded. */
export type PathParameters = Readonly<Record<string, string | undefined>>;

/** Groups of endpoints in the OpenAPI document. */
export const TAGS = {
  channels: 'Metadata of channels as JSON, and the search for them.',
  images: 'Banners, avatars and badges as images.',
  service: 'What this instance offers.',
} as const;

export interface PathParameter {
  readonly description: string;
  /** A value that works with the sample catalog. */
  readonly example: string;
  /** A regular expression. */
  readonly pattern?: string;
}

/**
 * One path of the public listener, for GET, HEAD and OPTIONS: its parameters, its handler, and what the index, the OpenAPI
 * document and docs/api.md say of it.
 */
export interface Endpoint<Path = unknown, Query extends Parameters = Parameters> {
  /** What the path returns, as part of a name. Generated clients call the operation `get…`. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** What the endpoint returns, in a few words. */
  readonly summary: string;
  /** What a client must know, in whole sentences. */
  readonly description: string;
  readonly pathParameters?: Readonly<Record<string, PathParameter>>;
  /** The response with status 200. */
  readonly returns: ResponseName;
  /** The path of an example. `undefined` if the channel has nothing to show. Default: no example in the index. */
  readonly example?: (channel: ExampleChannel) => string | undefined;
  /** In find-my-way's notation: `/api/channel/:identifier`. */
  readonly url: string;
  /** The parameters in the query. They are validated before `respond` is called. */
  readonly query?: Query;
  /** How long after the request's arrival a response must be there, in milliseconds. Default: `RESPONSE_MS`. */
  readonly responseMs?: number;
  /** Reads the path only. Preflights get its errors too. */
  parsePath?(parameters: PathParameters): Path;
  respond(
    request: { readonly path: Path; readonly query: Values<Query> },
    context: RequestContext,
  ): PublicResponse | Promise<PublicResponse>;
  /**
   * Responds to an error of `parsePath`, of the query or of `respond`. Parameters that are not valid have their defaults.
   * Default: a problem response.
   */
  respondToError?(error: AppError, query: Values<Query>): Promise<PublicResponse>;
}

/** Checks that the handler takes what the path and the query are read to. */
export function defineEndpoint<Path, Query extends Parameters>(endpoint: Endpoint<Path, Query>): Endpoint {
  return endpoint as unknown as Endpoint;
}

const NO_HEADERS = {};
/** Matches `X-Forwarded-Proto` of a client with HTTPS: each proxy of a chain adds the scheme of its own client at the end. */
const FIRST_IS_HTTPS = /^\s*https\s*(?:,|$)/i;
const NO_PARAMETERS = {};

/**
 * Returns the function that creates the context of a request when its header section has arrived. It never throws: the steps
 * report mistakes.
 *
 * @param baseUrls the operator's. If there are none, each request's own origin is used
 */
export function createContextFactory(clock: Clock, baseUrls: readonly string[], endpoints: readonly Endpoint[]) {
  const router = findMyWay({ maxParamLength: MAX_URL_BYTES });
  for (const endpoint of endpoints) router.on('GET', endpoint.url, () => undefined, endpoint);
  const findBase = createBaseFinder(baseUrls);

  return (client: Client, request: IncomingMessage, response: ServerResponse, fault?: AppError): RequestContext => {
    const target = parseTarget(request.url ?? '/');
    const route = target.problem === undefined ? router.find('GET', target.path) : null;
    const { headers } = request;
    const isHttps = client.isOfProxy && FIRST_IS_HTTPS.test(String(headers['x-forwarded-proto']));
    return {
      id: nextRequestId(),
      receivedAtMs: clock.monotonic(),
      request,
      response,
      fault,
      target,
      base: findBase(target.authority ?? headers.host ?? '', isHttps ? 'https' : 'http'),
      client,
      limitHeaders: NO_HEADERS,
      endpoint: route?.store as Endpoint | undefined,
      pathParameters: route?.params ?? NO_PARAMETERS,
      isNegotiated: false,
    };
  };
}

const REQUEST_ID_PREFIX = randomBytes(9).toString('base64url');
let requestCount = 0;

/** An ID for logs and responses: a random start for each process, and a number. */
function nextRequestId(): string {
  requestCount += 1;
  return `${REQUEST_ID_PREFIX}-${requestCount.toString(36)}`;
}

/** A signal that is aborted when the client disconnects before it has its response. */
export function disconnectSignal({ response }: Pick<RequestContext, 'response'>): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new AppError('request_timeout', 'The client disconnected.'));
  // The event of the socket would concern all its pipelined requests.
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller.signal;
}

export function routeNotFound(path: string): AppError {
  return new AppError('route_not_found', `There is nothing at ${quoted(path)}.`);
}
