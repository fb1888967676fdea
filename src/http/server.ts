import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { createListener, createServer, type Listener } from '../lib/http/listener.ts';
import type { OpenConnections } from '../lib/http/open-connections.ts';
import type { ResponseWriter } from '../lib/http/response-writer.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { RateLimit, RateLimiter } from '../rate-limit/limiter.ts';
import type { ChannelBatches } from '../services/channel-batches.ts';
import type { ChannelService } from '../services/channels.ts';
import type { Examples } from '../services/examples.ts';
import type { ImageService } from '../services/images.ts';
import type { SearchService } from '../services/search.ts';
import { createConnections, MAX_HEADER_BYTES, SLICE_BYTES } from './connections.ts';
import { createEndpointStep, createPipeline, createRouter } from './pipeline.ts';
import { type ClientIdentification, createRateLimitStep, OPERATOR_CLIENTS } from './request/client.ts';
import { createContextFactory, type Endpoint, validate } from './request/context.ts';
import { createRequestTracing } from './request/tracing.ts';
import { createAccessLog } from './response/access-log.ts';
import { createClientErrors } from './response/client-errors.ts';
import { createMicroCache } from './response/micro-cache.ts';
import { createSend } from './response/response.ts';
import { createRecordBodies, type ImageUrlStyle } from './response/serializers.ts';
import type { UnservedRequests } from './response/unserved-requests.ts';
import { badgeRoutes } from './routes/badges.ts';
import { bannerRoutes } from './routes/banners.ts';
import { channelBatchRoute } from './routes/channel-batches.ts';
import { channelRoutes, searchRoute } from './routes/channels.ts';
import { documentRoutes } from './routes/documents.ts';

export interface HttpServerOptions
  extends Pick<Runtime, 'clock' | 'epochs' | 'logger' | 'metrics' | 'holders' | 'failureLog'>,
    ImageUrlStyle {
  readonly responseWriter: ResponseWriter;
  readonly limiter: RateLimiter;
  readonly clients: ClientIdentification;
  readonly openConnections: OpenConnections;
  readonly unservedRequests: Pick<UnservedRequests, 'note'>;
  readonly channels: ChannelService;
  readonly channelBatches: ChannelBatches;
  readonly searches: SearchService;
  readonly banners: ImageService;
  readonly examples: Examples;
  readonly version: string;
  /** The operator's origins. If empty, each request's own origin is used. */
  readonly baseUrls: readonly string[];
  /** Contact address of the operator. */
  readonly contact: string | undefined;
  /** The URL of the files of `dist/site/`, with a slash at the end. */
  readonly siteUrl: string | undefined;
  /** The limit of clients without a limit of their own. */
  readonly defaultLimit: RateLimit;
  /** True when the format follows `Accept`. */
  readonly isNegotiating: boolean;
  /** True: a log line for each response. False: for failed and slow ones only. */
  readonly logsAll: boolean;
  /** True: clients appear in the log with their full address. False: with its network. */
  readonly showsAddresses: boolean;
}

const SERVER_OPTIONS: ServerOptions = {
  // After a read of Node's 64 KiB, no more is read before it has been parsed.
  highWaterMark: SLICE_BYTES,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: MAX_HEADER_BYTES,
  // Node would respond with an empty body. The pipeline's validation responds with JSON.
  requireHostHeader: false,
};

export interface PublicListener extends Listener {
  /**
   * Responds to a request of the operator that came another way. It has no limit, and its turns in the fair queue. Its target
   * is an absolute URL, which begins with the base of the URLs in the response.
   */
  readonly respondToOperator: (request: IncomingMessage, response: ServerResponse) => void;
}

/** The public listener. Every response is an image or JSON, whatever the request is. */
export function createHttpServer(options: HttpServerOptions): PublicListener {
  const { clock, epochs, holders, clients, baseUrls, openConnections, responseWriter } = options;
  const lifetime = { isClosing: false };
  const connections = createConnections(options);
  const rateLimit = createRateLimitStep(options);
  const microCache = createMicroCache(options);
  const endpoints = createEndpoints(options);
  const router = createRouter(endpoints);
  const accessLog = createAccessLog(options, endpoints);
  holders.add('IPv6 addresses', clients.stats);
  holders.add('connections and unread requests', connections.stats);

  const tracing = createRequestTracing({ clients });
  const handlers = [microCache.find, router.route, createEndpointStep({ clock })];
  const send = createSend({ responseWriter });

  const pipeline = createPipeline({
    createContext: createContextFactory({ clock, epochs, clients, baseUrls, lifetime, sliceOf: connections.sliceOf }),
    tracing,
    router,
    /** Every request takes these steps, in this order, until one of them returns the response or throws. */
    steps: [connections.refusing(rateLimit), connections.refusing(validate), ...handlers],
    /** Every response passes these, in this order. */
    responseSteps: [microCache.keep, connections.closeAfterRefusal, send, accessLog.observe],
  });
  const operatorPipeline = createPipeline({
    createContext: createContextFactory({
      clock,
      epochs,
      clients: OPERATOR_CLIENTS,
      baseUrls,
      lifetime,
      sliceOf: () => undefined,
    }),
    tracing,
    router,
    steps: [validate, ...handlers],
    responseSteps: [microCache.keep, send, accessLog.observe],
  });
  const { onParserError, onConnect } = createClientErrors({
    clients,
    rateLimit,
    baseUrls,
    accessLog,
    connections,
  });
  const onRequest = connections.receive(pipeline);
  const server = createServer(SERVER_OPTIONS, onRequest).on('connection', connections.open);
  server.on('clientError', onParserError).on('connect', onConnect).on('checkExpectation', onRequest);
  return { ...createListener({ server, connections: openConnections, lifetime }), respondToOperator: operatorPipeline };
}

/** Every path that is served. */
function createEndpoints(options: HttpServerOptions): readonly Endpoint[] {
  const { clock, holders, channels, channelBatches, searches, banners, urlForm, hasImageVersions, isNegotiating } =
    options;
  const recordBodyOf = createRecordBodies({ urlForm, hasImageVersions, holders });
  return [
    ...documentRoutes(options),
    ...channelRoutes({ channels, recordBodyOf }),
    channelBatchRoute({ channelBatches, recordBodyOf }),
    searchRoute({ searches, urlForm, hasImageVersions }),
    ...badgeRoutes({ channels }),
    ...bannerRoutes({ clock, holders, channels, banners, recordBodyOf, isNegotiating }),
  ];
}
