import { createListener, type Listener } from '../lib/http/listener.ts';
import { createNodeServer } from './node-server.ts';
import { runPipeline } from './pipeline.ts';
import { type ClientStepOptions, createClientStep } from './request/client.ts';
import {
  type ContextOptions,
  createContextFactory,
  createRequestIds,
  type RequestContext,
  type Step,
  validate,
} from './request/context.ts';
import { createRateLimitStep, type RateLimitStepOptions } from './request/rate-limit.ts';
import { createRequestTracing, type RequestTracingOptions } from './request/tracing.ts';
import { createObserver, type ObserverOptions } from './response/access-log.ts';
import { createClientErrors } from './response/client-errors.ts';
import { createMicroCache, type MicroCacheOptions } from './response/micro-cache.ts';
import { problemResponse } from './response/problems.ts';
import { applyConditions, type HttpResponse, send } from './response/response.ts';
import { createRecordBodies, type RecordBodiesOptions } from './response/serializers.ts';
import { bannerRoutes } from './routes/banners.ts';
import { channelBatchRoutes } from './routes/channel-batches.ts';
import { channelRoutes } from './routes/channels.ts';
import { documentRoutes } from './routes/documents.ts';
import { createHandlerStep, createRouter, readParameters } from './routes/router.ts';
import { searchRoutes } from './routes/search.ts';

const ROUTES = [documentRoutes, channelRoutes, channelBatchRoutes, searchRoutes, bannerRoutes];

/** What all of them need. */
type RouteOptions = (typeof ROUTES)[number] extends (options: infer Options) => unknown ? Options : never;
type StepOptions = Omit<ContextOptions, 'nextRequestId' | 'isClosing'> &
  ClientStepOptions &
  RateLimitStepOptions &
  MicroCacheOptions;
export type HttpServerOptions = Omit<RouteOptions, 'recordBodies'> &
  RecordBodiesOptions &
  StepOptions &
  ObserverOptions &
  RequestTracingOptions;

/** The public listener: images and JSON in every response, whatever comes in. */
export function createHttpServer(options: HttpServerOptions): Listener {
  const nextRequestId = createRequestIds();
  const createContext = createContextFactory({ ...options, nextRequestId, isClosing: () => listener.isClosing });
  const microCache = createMicroCache(options);
  const routeOptions = { ...options, recordBodies: createRecordBodies(options) };
  const endpoints = ROUTES.flatMap((routes) => routes(routeOptions));
  const router = createRouter(endpoints);
  const observe = createObserver(options, endpoints);

  /** Every request takes these steps, in this order, until one of them returns the response or throws. */
  const steps: readonly Step[] = [
    createClientStep(options),
    createRateLimitStep(options),
    validate,
    microCache.find,
    router.route,
    readParameters,
    createHandlerStep(options),
  ];

  /** What happens to the response that a step returned. */
  function finish(context: RequestContext, made: HttpResponse): void {
    microCache.keep(context, made);
    respond(context, applyConditions(context.request.headers, made));
  }

  /** What happens when a step threw. A client that has gone away gets no response. */
  function fail(context: RequestContext, error: unknown): void {
    if (context.response.headersSent || context.response.destroyed) return;
    context.endpoint ??= router.find(context);
    respond(context, problemResponse(error, context));
  }

  function respond(context: RequestContext, response: HttpResponse): void {
    send(context, response);
    observe(context, response);
  }

  const pipeline = { tracing: createRequestTracing(options), steps, finish, fail };
  const clientErrors = createClientErrors({ ...options, nextRequestId });
  const server = createNodeServer((request, response) => {
    runPipeline(pipeline, createContext(request, response));
  }, clientErrors);
  const listener = createListener(server);
  return listener;
}
