import type { IncomingMessage } from 'node:http';
import { type Purge, PurgeFailed } from '../cache/purge.ts';
import { channelRefsOfName } from '../domain/pasted.ts';
import { fields, parseJson } from '../lib/schema.ts';
import { OWN_REQUEST_FIELD } from './own-requests.ts';
import { type PrivateHandler, type PrivateResponse, problem } from './responses.ts';

const MAX_BODY_BYTES = 4_096;
const isObject = fields<Record<string, unknown>>({});

/** `POST /purge` with `{"channel": "UC… or @handle or URL"}`. */
export function createPurgeHandler(purge: Purge): PrivateHandler {
  return async (request) => {
    if (request.headers[OWN_REQUEST_FIELD] === undefined) {
      return problem(403, `The field ${OWN_REQUEST_FIELD} is missing.`);
    }
    // The client of an incomplete body has gone: it gets no response, and nothing is purged.
    const text = await readBody(request).catch(() => '');
    if (text === undefined) return problem(413, `The body is longer than ${MAX_BODY_BYTES} bytes.`);
    const body = parseJson(text, isObject);
    if (body === undefined) return problem(400, 'The body is not a JSON object.');
    try {
      return await carryOut(purge, body);
    } catch (error) {
      if (!(error instanceof PurgeFailed)) throw error;
      return problem(503, `${error.message}.`);
    }
  };
}

async function carryOut(purge: Purge, body: Record<string, unknown>): Promise<PrivateResponse> {
  const refs = typeof body.channel === 'string' ? channelRefsOfName(body.channel) : [];
  if (refs.length === 0) return problem(400, 'Name a channel ID, an @handle or a channel page’s URL.');
  const purged = await purge.purgeChannel(refs);
  return purged === undefined ? problem(404, 'Nothing is stored under that name.') : { body: purged };
}

/** `undefined` when it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    // Leaving the loop early would close the connection before the response is sent.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return bytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}
