import type { ServerOptions } from 'node:http';
import { createListener, createServer, type Listener } from '../lib/http/listener.ts';
import type { ResponseWriter } from '../lib/http/response-writer.ts';
import { createConnections } from './connections.ts';
import { createEndpointStep, createPipeline, createRouter } from './pipeline.ts';
import { createRateLimitStep, type RateLimitStepOptions } from './request/client.ts';
import { type ContextOptions, createContextFactory, validate } from './request/context.ts';
import { createRequestTracing } from './request/tracing.ts';
import { type AccessLogOptions, createAccessLog } from './response/access-log.ts';
import { createClientErrors } from './response/client-errors.ts';
import { createMicroCache, type MicroCacheOptions } from './response/micro-cache.ts';
import { createSend } from './response/response.ts';
import { createRecordBodies, type RecordBodiesOptions } from './response/serializers.ts';
import { badgeRoute } from './routes/badges.ts';
import { bannerRoutes } from './routes/banners.ts';
import { channelBatchRoute } from './routes/channel-batches.ts';
import { channelRoutes, searchRoute } from './routes/channels.ts';
import { documentRoutes } from './routes/documents.ts';

const ROUTES = [documentRoutes, channelRoutes, channelBatchRoute, searchRoute, badgeRoute, bannerRoutes];

type RouteOptions = (typeof ROUTES)[number] extends (options: infer Options) => unknown ? Options : never;
export type HttpServerOptions = Omit<ContextOptions, 'lifetime' | 'sliceOf'> &
  RateLimitStepOptions &
  MicroCacheOptions &
  Omit<RouteOptions, 'recordBodyOf'> &
  RecordBodiesOptions &
  AccessLogOptions & { readonly responseWriter: ResponseWriter };

const SERVER_OPTIONS: ServerOptions = {
  // After a read of Node's 64 KiB, no more is read before all but this much of it has been parsed.
  highWaterMark: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 24 * 1024,
  // Node would respond with an empty body. The pipeline's validation responds with JSON.
  requireHostHeader: false,
};

/** The public listener. Every response is an image or JSON, whatever the request is. */
export function createHttpServer(options: HttpServerOptions): Listener {
  const lifetime = { isClosing: false };
  const connections = createConnections(options);
  const rateLimit = createRateLimitStep(options);
  const microCache = createMicroCache(options);
  const routeOptions = { ...options, recordBodyOf: createRecordBodies(options) };
  const endpoints = ROUTES.flatMap((routes) => routes(routeOptions));
  const router = createRouter(endpoints);
  const accessLog = createAccessLog(options, endpoints);
  options.holders.add('IPv6 addresses', options.clients.stats);

  const pipeline = createPipeline({
    createContext: createContextFactory({ ...options, lifetime, sliceOf: connections.sliceOf }),
    tracing: createRequestTracing(options),
    router,
    /** Every request takes these steps, in this order, until one of them returns the response or throws. */
    steps: [
      connections.refusing(rateLimit),
      connections.refusing(validate),
      microCache.find,
      router.route,
      createEndpointStep(options),
    ],
    /** Every response passes these, in this order. */
    responseSteps: [microCache.keep, connections.closeAfterRefusal, createSend(options), accessLog.observe],
  });
  const { onParserError, onConnect } = createClientErrors({ ...options, rateLimit, accessLog, connections });
  const onRequest = connections.receive(pipeline);
  const server = createServer(SERVER_OPTIONS, onRequest).on('connection', connections.open);
  server.on('clientError', onParserError).on('connect', onConnect).on('checkExpectation', onRequest);
  return createListener(server, lifetime);
}
