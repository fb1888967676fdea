import type { FastifyInstance, FastifyRequest } from 'fastify';
import { channelRefsOf } from '../domain/channel-url.ts';
import type { Purge } from '../services/purge.ts';

/**
 * A page elsewhere can make a browser post a form here, but not with a field of its own: that takes a preflight, which
 * this listener does not answer.
 */
const OWN_REQUEST_FIELD = 'x-pennant-console';
const MAX_BODY_BYTES = 4_096;

/** `POST /purge` with `{"channel": "UC… or @handle or URL"}`. */
export function addPurgeRoute(app: FastifyInstance, purge: Purge): void {
  app.post('/purge', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    if (request.headers[OWN_REQUEST_FIELD] === undefined) {
      return reply.code(403).send({ status: 403, detail: `The field ${OWN_REQUEST_FIELD} is missing.` });
    }
    const [ref] = channelRefsOf(channelIn(request));
    if (ref === undefined) {
      return reply.code(400).send({ status: 400, detail: 'Name a channel ID, an @handle or a channel page’s URL.' });
    }
    const channelId = await purge(ref);
    if (channelId === undefined) return reply.code(404).send({ status: 404, detail: 'Nothing is kept by that name.' });
    return reply.send({ channelId });
  });
}

function channelIn({ body }: FastifyRequest): string {
  const isObject = typeof body === 'object' && body !== null;
  return isObject && 'channel' in body ? String(body.channel) : '';
}
