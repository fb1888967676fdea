import { AppError } from '../../domain/errors.ts';
import { type ChannelRef, refsOfBareIdentifier } from '../../domain/identifier.ts';
import type { Holders } from '../../lib/holders.ts';
import type { ChannelService } from '../../services/channels.ts';
import type { Endpoint, RequestContext } from '../request/context.ts';
import { parseIdentifier } from '../request/identifier-path.ts';
import { CHANNEL_QUERY, createQueryReader, parseQuery } from '../request/params.ts';
import { createRecordBodies } from '../response/record-bodies.ts';
import { jsonResponse, type UrlForm } from '../response/serializers.ts';

export interface ChannelRouteOptions {
  readonly channels: ChannelService;
  readonly urlForm: UrlForm;
  readonly holders: Holders;
}

/** The record as JSON: by identifier and `type`, and at the paths that channel pages have. */
export function channelRoutes({ channels, urlForm, holders }: ChannelRouteOptions): Endpoint[] {
  const recordBodies = createRecordBodies({ urlForm, holders });
  const readQuery = createQueryReader(CHANNEL_QUERY);

  function endpoint(
    url: string,
    parseInput: (identifier: string, context: RequestContext) => readonly ChannelRef[],
  ): Endpoint<string, readonly ChannelRef[]> {
    return {
      url,
      parsePath: ({ identifier = '' }) => identifier,
      parseInput,
      async respond(refs, { base }) {
        const { channel, outcome } = await channels.getChannel(refs);
        return jsonResponse(outcome, recordBodies.get(channel, base));
      },
    };
  }

  return [
    endpoint('/api/channel/:identifier', (identifier, { target }) => {
      const { type = 'id' } = readQuery(parseQuery(target.query));
      return [parseIdentifier(identifier, type, target)];
    }),
    endpoint('/channel/:identifier', (identifier, { target }) => [parseIdentifier(identifier, 'id', target)]),
    endpoint('/user/:identifier', (identifier, { target }) => [parseIdentifier(identifier, 'username', target)]),
    endpoint('/c/:identifier', refsOfCustomName),
  ];
}

function refsOfCustomName(name: string): ChannelRef[] {
  // A custom name may look like an ID. Here it never is one.
  const refs = refsOfBareIdentifier(name).filter((ref) => ref.kind !== 'id');
  if (refs.length > 0) return refs;
  throw new AppError('invalid_parameter', 'The name can be neither a handle nor a user name.');
}
