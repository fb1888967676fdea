import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import type { ResponseWriter } from '../lib/http/response-writer.ts';

/** A response of the private listener. */
export interface PrivateResponse {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and texts are sent as they are, anything else as JSON. */
  readonly body?: string | Buffer | object;
}

export type PrivateHandler = (request: IncomingMessage) => PrivateResponse | Promise<PrivateResponse>;

export function problem(status: number, detail: string): PrivateResponse {
  return { status, body: { status, detail } };
}

export function requestPath({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

export function sendResponse(
  responseWriter: ResponseWriter,
  response: ServerResponse,
  { status = 200, headers = {}, body }: PrivateResponse,
): void {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const content = isJson ? JSON.stringify(body) : (body ?? '');
  response.writeHead(status, {
    ...(isJson && { 'content-type': 'application/json; charset=utf-8' }),
    'cache-control': 'no-store',
    ...headers,
    'content-length': Buffer.byteLength(content),
  });
  responseWriter.end(response, content, 'operator');
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

/**
 * A route for each file of a directory, all read once: no path of a request ever reaches the file system.
 *
 * @param prefix with a slash at the end; the prefix itself serves `index.html`
 */
export function staticRoutes(
  prefix: string,
  directory: string,
  headers: Readonly<Record<string, string>>,
): [string, PrivateHandler][] {
  return readdirSync(directory).flatMap((name): [string, PrivateHandler][] => {
    const mediaType = MEDIA_TYPES[extname(name)];
    // A directory has its own prefix.
    if (mediaType === undefined) return [];
    const file = { headers: { ...headers, 'content-type': mediaType }, body: readFileSync(join(directory, name)) };
    return [[`GET ${prefix}${name === 'index.html' ? '' : name}`, () => file]];
  });
}
