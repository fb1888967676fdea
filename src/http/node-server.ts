import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer } from '../lib/node-http.ts';
import type { ClientErrors } from './response/client-errors.ts';

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  // Longer than nginx keeps its upstream connections (60 s) and clients theirs (75 s), so that the other side closes first.
  keepAliveTimeout: 80_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 24 * 1024,
  // Node would respond with an empty body. The pipeline's validation responds with JSON.
  requireHostHeader: false,
};

/** Node's HTTP server with the limits of a public listener. Every request, tunnel and client error gets a response. */
export function createNodeServer(
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  { onParserError, onConnect }: ClientErrors,
): Server {
  const server = createServer(SERVER_OPTIONS, onRequest);
  server.on('clientError', onParserError);
  server.on('connect', onConnect);
  server.on('checkExpectation', onRequest);
  return server;
}
