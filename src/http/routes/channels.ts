import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';

import { type ChannelRef, refsOfBareIdentifier } from '../../domain/identifier.ts';

import type { Clock } from '../../lib/clock.ts';

import type { ChannelService } from '../../services/channels.ts';
import { completeObject } from '../openapi/json-schema.ts';
import { answersOf, CHANNEL_ERRORS, CHANNEL_RECORD } from '../openapi/schemas.ts';
import { parseIdentifier } from '../request/identifier-path.ts';
import { CHANNEL_QUERY, createQueryReader } from '../request/params.ts';
import { lookedUpJson } from '../response/json-answer.ts';
import type { RecordBodies } from '../response/record-bodies.ts';
import { addEndpoint, type Endpoint } from './endpoint.ts';

export interface ChannelRouteDeps {
  readonly clock: Clock;
  readonly channels: ChannelService;
  readonly recordBodies: RecordBodies;
}

/** The record as JSON: by identifier and `type`, and at the paths that channel pages have. */
export function addChannelRoutes(app: FastifyInstance, { clock, channels, recordBodies }: ChannelRouteDeps): void {
  const readQuery = createQueryReader(CHANNEL_QUERY);

  function endpoint(
    url: string,
    summary: string,
    description: string,
    refsOf: (identifier: string, request: FastifyRequest) => ChannelRef[],
  ): Endpoint<string> {
    const isTyped = url.startsWith('/api/');
    return {
      url,
      schema: {
        summary,
        description: 'Kept for an hour. An ID that upstream redirects answers with the channel it leads to.',
        params: completeObject({ identifier: { type: 'string', description } }),
        ...(isTyped && { querystring: CHANNEL_QUERY }),
        response: answersOf(CHANNEL_RECORD, CHANNEL_ERRORS),
      },
      parsePath: (request) => (request.params as { identifier: string }).identifier,
      async answer(identifier, request) {
        const refs = refsOf(identifier, request);
        const { channel, outcome } = await channels.getChannel(refs);
        return lookedUpJson(request, outcome, recordBodies.get(channel, request.exchange.base));
      },
    };
  }

  addEndpoint(
    { app, clock },
    endpoint(
      '/api/channel/:identifier',
      'A channel’s metadata',
      'A channel ID, or what `type` says.',
      (identifier, { query, exchange }) => {
        const { type = 'id' } = readQuery(query as Record<string, unknown>);
        return [parseIdentifier(identifier, type, exchange.target)];
      },
    ),
  );
  addEndpoint(
    { app, clock },
    endpoint('/channel/:identifier', 'A channel’s metadata by ID', 'A channel ID.', (identifier, { exchange }) => [
      parseIdentifier(identifier, 'id', exchange.target),
    ]),
  );
  addEndpoint(
    { app, clock },
    endpoint(
      '/user/:identifier',
      'A channel’s metadata by user name',
      'A legacy user name.',
      (identifier, { exchange }) => [parseIdentifier(identifier, 'username', exchange.target)],
    ),
  );
  addEndpoint(
    { app, clock },
    endpoint('/c/:identifier', 'A channel’s metadata by name', 'A handle or a legacy user name.', refsOfCustomName),
  );
}

function refsOfCustomName(name: string): ChannelRef[] {
  // A custom name may look like an ID; here it never is one.
  const refs = refsOfBareIdentifier(name).filter((ref) => ref.kind !== 'id');
  if (refs.length > 0) return refs;
  throw new AppError('invalid_parameter', 'The name can be neither a handle nor a user name.');
}
