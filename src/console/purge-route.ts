import { realpathSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { channelRefsOfName } from '../domain/identifier.ts';
import type { Purge } from '../services/purge.ts';
import { RemovalDelayed } from '../services/removals.ts';

export interface PurgeRouteOptions {
  readonly purge: Purge;
  /** Whoever asks for another one's purge is told that this is not it. */
  readonly dataDir: string;
}

/**
 * A page elsewhere can make a browser post a form here, but not with a field of its own: that takes a preflight, which
 * this listener does not answer.
 */
const OWN_REQUEST_FIELD = 'x-pennant-console';
const MAX_BODY_BYTES = 4_096;

/**
 * `POST /purge` with `{"channel": "UC… or @handle or URL"}`, or with `{"everything": true}`. Where the body names a
 * `dataDir`, only the service that uses it does anything.
 */
export function addPurgeRoute(app: FastifyInstance, { purge, dataDir }: PurgeRouteOptions): void {
  app.post('/purge', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    if (request.headers[OWN_REQUEST_FIELD] === undefined) {
      return refuse(reply, 403, `The field ${OWN_REQUEST_FIELD} is missing.`);
    }
    const body = bodyOf(request);
    if (body.dataDir !== undefined && body.dataDir !== realpathSync(dataDir)) {
      return refuse(reply, 409, 'This service has another DATA_DIR.');
    }
    try {
      return await carryOut(purge, body, reply);
    } catch (error) {
      if (!(error instanceof RemovalDelayed)) throw error;
      return refuse(reply, 503, `Everything else is removed; ${error.message}, and tried again until it is gone.`);
    }
  });
}

async function carryOut(purge: Purge, body: Record<string, unknown>, reply: FastifyReply): Promise<FastifyReply> {
  if (body.everything === true) {
    await purge.purgeAll();
    return reply.send({});
  }
  const refs = channelRefsOfName(String(body.channel ?? ''));
  if (refs.length === 0) return refuse(reply, 400, 'Name a channel ID, an @handle or a channel page’s URL.');
  const purged = await purge.purgeChannel(refs);
  if (purged === undefined) return refuse(reply, 404, 'Nothing is kept by that name.');
  return reply.send(purged);
}

function refuse(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return reply.code(status).send({ status, detail });
}

function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
