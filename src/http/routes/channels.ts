import type { FastifyInstance } from 'fastify';
import type { Channel } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { type ChannelRef, parseIdentifier, refsOfBareIdentifier } from '../../domain/identifier.ts';
import type { ChannelService } from '../../services/channels.ts';
import { addEndpoint, type Endpoint } from '../endpoint.ts';
import { entityTag } from '../entity-tag.ts';
import { lookedUpJson } from '../json-answer.ts';
import { completeObject } from '../json-schema.ts';
import { CHANNEL_QUERY, createQueryReader } from '../params.ts';
import { recordOf } from '../record.ts';
import { answersOf, CHANNEL_ERRORS, CHANNEL_RECORD } from '../schemas.ts';
import type { UrlForm } from '../urls.ts';
import type { RouteDeps } from './deps.ts';

export interface ChannelRouteDeps extends RouteDeps {
  readonly channels: ChannelService;
  readonly urlForm: UrlForm;
}

/** The record as JSON: by identifier and `type`, and at the paths that channel pages have. */
export function addChannelRoutes(app: FastifyInstance, deps: ChannelRouteDeps): void {
  const readQuery = createQueryReader(CHANNEL_QUERY);
  const prepared = createRecordBodies(deps.urlForm);

  function endpoint(
    url: string,
    summary: string,
    description: string,
    refsOf: (identifier: string, query: Record<string, unknown>) => ChannelRef[],
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
        const refs = refsOf(identifier, request.query as Record<string, unknown>);
        const base = deps.baseOf(request);
        const { channel, outcome } = await deps.channels.getChannel(refs);
        const { body, etag } = prepared(channel, base);
        return lookedUpJson(request, outcome, body, etag);
      },
    };
  }

  addEndpoint(
    app,
    endpoint(
      '/api/channel/:identifier',
      'A channel’s metadata',
      'A channel ID, or what `type` says.',
      (identifier, query) => [parseIdentifier(identifier, readQuery(query).type ?? 'id')],
    ),
  );
  addEndpoint(
    app,
    endpoint('/channel/:identifier', 'A channel’s metadata by ID', 'A channel ID.', (identifier) => [
      parseIdentifier(identifier, 'id'),
    ]),
  );
  addEndpoint(
    app,
    endpoint('/user/:identifier', 'A channel’s metadata by user name', 'A legacy user name.', (identifier) => [
      parseIdentifier(identifier, 'username'),
    ]),
  );
  addEndpoint(
    app,
    endpoint('/c/:identifier', 'A channel’s metadata by name', 'A handle or a legacy user name.', refsOfCustomName),
  );
}

function refsOfCustomName(name: string): ChannelRef[] {
  // A custom name may look like an ID; here it never is one.
  const refs = refsOfBareIdentifier(name).filter((ref) => ref.kind !== 'id');
  if (refs.length > 0) return refs;
  throw new AppError('invalid_parameter', 'The name can be neither a handle nor a user name.');
}

interface RecordBody {
  /** Text, not bytes: Node then writes it together with the header section in one piece. */
  readonly body: string;
  readonly etag: string;
}

/** A base URL comes from `Host` where none is set: more than this many for one channel are not remembered. */
const MAX_PREPARED_BASES = 8;

/** A record's bytes, made once for each base URL and kept as long as the record itself. */
function createRecordBodies(urlForm: UrlForm): (channel: Channel, base: string) => RecordBody {
  const byChannel = new WeakMap<Channel, Map<string, RecordBody>>();
  return (channel, base) => {
    const known = byChannel.get(channel)?.get(base);
    if (known !== undefined) return known;
    const byBase = byChannel.get(channel) ?? new Map<string, RecordBody>();
    byChannel.set(channel, byBase);
    const body = JSON.stringify(recordOf(channel, base, urlForm));
    const made = { body, etag: entityTag(body) };
    if (byBase.size < MAX_PREPARED_BASES) byBase.set(base, made);
    return made;
  };
}
