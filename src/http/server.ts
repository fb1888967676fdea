import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { AppError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { createListener, createServer } from '../lib/http/listener.ts';
import type { ResponseWriter } from '../lib/http/response-writer.ts';
import type { Connections } from './connections.ts';
import { createEndpointStep, createPipeline } from './pipeline.ts';
import { validate } from './request/admission.ts';
import { type IdentifyClient, OPERATOR } from './request/client-identification.ts';
import { createContextFactory, type Endpoint, type ResponseStep, type Step } from './request/context.ts';
import { createClientErrors } from './response/client-errors.ts';
import type { MicroCache } from './response/micro-cache.ts';
import { createSend } from './response/send.ts';
import { SLICE_BYTES } from './slices.ts';

interface PublicListenerOptions {
  readonly clock: Clock;
  /** Every path that is served. */
  readonly endpoints: readonly Endpoint[];
  readonly identify: IdentifyClient;
  /** The operator's base URLs. If there are none, each request's own origin is used. */
  readonly baseUrls: readonly string[];
  readonly connections: Connections;
  readonly rateLimit: Step;
  readonly microCache: MicroCache;
  readonly responseWriter: ResponseWriter;
  readonly reporter: ResponseStep;
}

const SERVER_OPTIONS: ServerOptions = {
  // As low as a slice: after one read of Node's 64 KiB, no more is read until it has been parsed.
  highWaterMark: SLICE_BYTES,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 24 * 1_024,
  // Node would respond with an empty body. The pipeline's validation responds with JSON.
  requireHostHeader: false,
};

export type PublicListener = ReturnType<typeof createPublicListener>;

/** The public listener. Every response is an image or JSON, whatever the request is. */
export function createPublicListener(options: PublicListenerOptions) {
  const { clock, endpoints, identify, baseUrls, connections, rateLimit, microCache, responseWriter, reporter } =
    options;
  const lifetime = { isClosing: false };
  const respond = createEndpointStep(clock);
  const send = createSend(responseWriter, lifetime);

  /** A request takes the steps until one of them returns the response or throws. Every response takes all response steps. */
  const run = createPipeline(
    [rateLimit, validate, microCache.before(respond)],
    [connections.closeAfterError, send, reporter],
  );
  const createContext = createContextFactory(clock, baseUrls, endpoints);

  /** @param fault why the bytes did not become a request */
  function respondToClient(request: IncomingMessage, response: ServerResponse, fault?: AppError): void {
    const client = identify(request.socket, request.headers['x-forwarded-for']);
    run(createContext(client, request, response, fault));
  }

  const { onParserError, onConnect } = createClientErrors(connections, respondToClient);
  const onRequest = connections.receive(respondToClient);
  const server = createServer(SERVER_OPTIONS, onRequest).on('connection', connections.open);
  server.on('clientError', onParserError).on('connect', onConnect).on('checkExpectation', onRequest);
  return {
    ...createListener(server, connections, lifetime),
    /**
     * Responds to a request of the operator from the private listener. It has no rate limit, but waits its turn in the round
     * robin. Its target is an absolute URL, whose origin chooses the base of the URLs in the response.
     */
    respondToOperator(request: IncomingMessage, response: ServerResponse): void {
      run(createContext(OPERATOR, request, response));
    },
  };
}
