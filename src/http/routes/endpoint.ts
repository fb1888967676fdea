import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { withinMs } from '../../lib/deadline.ts';
import { withRequest } from '../../lib/request-context.ts';
import { preflightAnswers } from '../openapi/schemas.ts';
import { type Answer, PREFLIGHT } from '../response/send.ts';

export interface Endpoint<Path> {
  readonly url: string;
  /** For /openapi.json. */
  readonly schema: FastifySchema;
  /** Reads the path alone: an unknown path is told before a wrong parameter, and to a preflight too. */
  parsePath(request: FastifyRequest): Path;
  answer(path: Path, request: FastifyRequest): Answer | Promise<Answer>;
}

export interface Routes {
  readonly app: FastifyInstance;
  readonly clock: Clock;
}

/** No client waits longer than 12 s; what is being loaded goes on for the others. */
const REQUEST_DEADLINE_MS = 11_500;

/** Registers an endpoint for GET, HEAD (the same without the body) and OPTIONS. */
export function addEndpoint<Path>({ app, clock }: Routes, { url, schema, parsePath, answer }: Endpoint<Path>): void {
  app.route({
    method: ['GET', 'HEAD'],
    url,
    schema,
    handler(request: FastifyRequest, reply: FastifyReply) {
      const path = parsePath(request);
      const context = { requestId: request.id, client: request.exchange.admission?.client.key ?? '' };
      const answered = withRequest(context, () => answer(path, request));
      if (!(answered instanceof Promise)) return reply.answer(answered);
      return answerInTime(clock, answered).then((ready) => reply.answer(ready));
    },
  });
  app.route({
    method: 'OPTIONS',
    url,
    schema: {
      summary: 'What a browser may ask for here',
      ...(schema.params !== undefined && { params: schema.params }),
      response: preflightAnswers(schema.params !== undefined),
    },
    handler(request: FastifyRequest, reply: FastifyReply) {
      parsePath(request);
      reply.answer(PREFLIGHT);
    },
  });
}

async function answerInTime(clock: Clock, answering: Promise<Answer>): Promise<Answer> {
  const answer = await withinMs(clock, answering, REQUEST_DEADLINE_MS);
  if (answer !== undefined) return answer;
  throw new AppError('upstream_timeout', 'The answer took too long to get: please ask again.');
}

/** A signal that fires when the client goes away before its answer was sent. */
export function goneSignal(request: FastifyRequest): AbortSignal {
  const controller = new AbortController();
  const { socket } = request.raw;
  const onClose = () => controller.abort(new AppError('request_timeout', 'The client has gone away.'));
  socket.once('close', onClose);
  request.raw.once('close', () => socket.off('close', onClose));
  return controller.signal;
}
