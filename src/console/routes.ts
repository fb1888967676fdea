import type { IncomingMessage, ServerResponse } from 'node:http';

/** A response of the private listener. */
export interface ConsoleResponse {
  /** Default: 200. */
  readonly status?: number;
  /** Default for `cache-control`: `no-store`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and texts are sent as they are, anything else as JSON. */
  readonly body?: string | Buffer | object;
}

export type ConsoleHandler = (request: IncomingMessage) => ConsoleResponse | Promise<ConsoleResponse>;

/** By method and path: `GET /healthz`. HEAD is handled as GET without the body. */
export type ConsoleRoutes = ReadonlyMap<string, ConsoleHandler>;

export function problem(status: number, detail: string): ConsoleResponse {
  return { status, body: { status, detail } };
}

export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

export function findHandler(routes: ConsoleRoutes, request: IncomingMessage): ConsoleHandler | undefined {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return routes.get(`${method} ${pathOf(request)}`);
}

export function sendResponse(response: ServerResponse, { status = 200, headers = {}, body }: ConsoleResponse): void {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const content = isJson ? JSON.stringify(body) : (body ?? '');
  response.writeHead(status, {
    ...(isJson && { 'content-type': 'application/json; charset=utf-8' }),
    'cache-control': 'no-store',
    ...headers,
    ...(status !== 304 && { 'content-length': Buffer.byteLength(content) }),
  });
  response.end(content);
}
