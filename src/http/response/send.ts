import type { OutgoingHttpHeader } from 'node:http';
import type { RequestContext } from '../request/context.ts';
import { COMMON_HEADERS, type HttpResponse } from './response.ts';

/** Writes the response with the fields that every response carries. */
export function send(context: RequestContext, { status, headers, body, bodyEncoding }: HttpResponse): void {
  const { response, request } = context;
  const encoding = bodyEncoding ?? 'utf8';
  const fields: (string | number)[] = [...COMMON_FIELDS, 'x-request-id', context.id];
  pushFields(fields, context.limitHeaders);
  pushFields(fields, headers);
  if (context.isNegotiated) fields.push('vary', 'Accept');
  if (context.isLast) fields.push('connection', 'close');
  if (body !== undefined) fields.push('content-length', Buffer.byteLength(body, encoding));
  response.writeHead(status, fields as OutgoingHttpHeader[]);
  response.end(body, encoding);
  // Node's own limit for idle connections would be set and cleared with every request: 6 % of a hot response's time.
  if (response.writableLength > 0) request.socket.setTimeout(READER_TIMEOUT_MS);
}

/** A client that takes nothing of its response for so long is disconnected. */
const READER_TIMEOUT_MS = 100_000;

const COMMON_FIELDS = Object.entries(COMMON_HEADERS).flat();

/** Names and values in turn: Node writes such a list as it is, and would sort out an object first. */
function pushFields(fields: (string | number)[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) fields.push(name, headers[name] as string);
}
