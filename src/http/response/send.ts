import type { OutgoingHttpHeader } from 'node:http';
import type { Lifetime } from '../../lib/http/listener.ts';
import type { ResponseWriter } from '../../lib/http/response-writer.ts';
import { ALLOWED_METHODS } from '../request/admission.ts';
import type { PublicResponse, RequestContext } from '../request/context.ts';
import { FIXED_FIELDS } from './fields.ts';

const FIXED = Object.entries(FIXED_FIELDS).flatMap(([name, value]) => [name.toLowerCase(), value]);

/** The response to a preflight. Browsers may remember it for a day. */
export const PREFLIGHT: PublicResponse = {
  status: 204,
  headers: {
    allow: ALLOWED_METHODS,
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  },
};

/** The step that writes the response with the fields that every response carries. */
export function createSend(responseWriter: ResponseWriter, lifetime: Lifetime) {
  return (context: RequestContext, { status, headers, body, onSent }: PublicResponse): undefined => {
    const { request, response } = context;
    const fields: (string | number)[] = [...FIXED, 'x-request-id', context.id];
    pushFields(fields, context.limitHeaders);
    pushFields(fields, headers);
    if (context.isNegotiated) fields.push('vary', 'Accept');
    // After an ignored `Upgrade` (RFC 9110 section 7.8), Node's parser drops the requests that were pipelined behind it.
    if (lifetime.isClosing || request.headers.upgrade !== undefined) fields.push('connection', 'close');
    if (body !== undefined) fields.push('content-length', Buffer.byteLength(body));
    response.writeHead(status, fields as OutgoingHttpHeader[]);
    responseWriter.end(response, body, context.client.network, onSent);
  };
}

/** Adds names and values in turn. Node writes such a list directly, while it would convert an object first. */
function pushFields(fields: (string | number)[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) fields.push(name, headers[name] as string);
}
