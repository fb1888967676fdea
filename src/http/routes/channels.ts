import type { ChannelService } from '../../channels/channels.ts';
import { recordPathOf, searchPathOf } from '../../channels/examples.ts';
import type { SearchService } from '../../channels/search.ts';
import {
  findIdentifier,
  type Identifier,
  type IdentifierKind,
  identifiersOfBareName,
  identifiersOfCustomName,
  isChannelId,
} from '../../domain/identifier.ts';
import { InvalidIdentifier } from '../request/advice.ts';
import { defineEndpoint, type Endpoint, type PathParameter, type PublicResponse } from '../request/context.ts';
import { CHANNEL_QUERY, SEARCH_QUERY } from '../request/parameters.ts';
import { jsonResponse, recordOf, searchResultOf, type UrlForm } from '../response/serializers.ts';

export interface ChannelRouteOptions {
  readonly channels: ChannelService;
  readonly urlForm: UrlForm;
}

/** The response with the record of the first identifier that leads to a channel. */
export async function recordResponse(
  { channels, urlForm }: ChannelRouteOptions,
  identifiers: readonly Identifier[],
  base: string,
): Promise<PublicResponse> {
  const { channel, outcome } = await channels.getChannel(identifiers);
  return jsonResponse(outcome, recordOf(channel, base, urlForm));
}

export const IDENTIFIER: PathParameter = {
  description: 'A channel ID, an @handle, or a name (a handle, else a user name).',
  example: '@pennantsample',
};

const SAMPLE_ID = 'UCPennantSample00000001A';

/** The record as JSON: by identifier and `type`, and at the paths of channel pages. */
export function channelRoutes(options: ChannelRouteOptions): Endpoint[] {
  const record = { tag: 'channels', returns: 'Record' } as const;

  /** Reads the path of a channel page. A preflight gets no error of its identifier. */
  function respondTo(read: (identifier: string) => readonly Identifier[]): Endpoint['respond'] {
    return (_request, { pathParameters, base }) => recordResponse(options, read(pathParameters.identifier ?? ''), base);
  }

  return [
    defineEndpoint({
      ...record,
      url: '/api/channel/:identifier',
      id: 'Channel',
      summary: 'A channel’s metadata',
      description: 'If YouTube redirects the ID, the response is the record of the target channel.',
      pathParameters: {
        identifier: {
          description: 'A channel ID, a user name or a handle, according to `type`.',
          example: SAMPLE_ID,
        },
      },
      query: CHANNEL_QUERY,
      example: recordPathOf,
      respond: ({ query }, { pathParameters, base }) =>
        recordResponse(options, parseIdentifier(pathParameters.identifier ?? '', query.type), base),
    }),
    defineEndpoint({
      ...record,
      url: '/channel/:identifier',
      id: 'ChannelById',
      summary: 'A channel’s metadata by ID',
      description: 'The path is that of a channel page at YouTube.',
      pathParameters: { identifier: { description: 'A channel ID.', example: SAMPLE_ID } },
      example: ({ channelId }) => `/channel/${channelId}`,
      respond: respondTo((identifier) => parseIdentifier(identifier, 'id')),
    }),
    defineEndpoint({
      ...record,
      url: '/user/:identifier',
      id: 'ChannelByUsername',
      summary: 'A channel’s metadata by user name',
      description: 'The path is that of a channel page with a legacy user name.',
      pathParameters: { identifier: { description: 'A legacy user name.', example: 'PennantSample' } },
      respond: respondTo((identifier) => parseIdentifier(identifier, 'username')),
    }),
    defineEndpoint({
      ...record,
      url: '/c/:identifier',
      id: 'ChannelByName',
      summary: 'A channel’s metadata by name',
      description: 'A name that is no custom name is read as a handle, then as a legacy user name.',
      pathParameters: { identifier: { description: 'A legacy custom name.', example: 'pennantsample' } },
      respond: respondTo(parseCustomName),
    }),
  ];
}

export function searchRoute(searches: SearchService, urlForm: UrlForm): Endpoint {
  return defineEndpoint({
    url: '/api/search',
    id: 'SearchResults',
    tag: 'channels',
    summary: 'Search for channels',
    description:
      'If `q` names a channel as people paste it, such as the address of its page, that channel is the first result.',
    query: SEARCH_QUERY,
    returns: 'Results',
    example: searchPathOf,
    async respond({ query: { q, limit } }, context) {
      const { hits, outcome } = await searches.search(q, limit);
      const results = hits.map((hit) => searchResultOf(hit, context.base, urlForm));
      return jsonResponse(outcome, { query: q, results });
    },
  });
}

function parseCustomName(name: string): readonly Identifier[] {
  const identifiers = isChannelId(name) ? [] : identifiersOfCustomName(name);
  return requireAny(identifiers, name, 'can be neither a custom name nor a handle');
}

/**
 * Reads an identifier whose kind the request does not name: a channel ID, an `@handle` or a bare name.
 *
 * @throws InvalidIdentifier
 */
export function parseBareIdentifier(text: string): readonly Identifier[] {
  const fault = 'is neither a channel ID ("UC" and 22 characters), nor an @handle, nor a user name';
  return requireAny(identifiersOfBareName(text), text, fault);
}

type RecordType = Exclude<IdentifierKind, 'custom'>;

/** Reads an identifier as the kind in its path or `type`. @throws InvalidIdentifier */
function parseIdentifier(text: string, kind: RecordType): readonly Identifier[] {
  const identifier = findIdentifier(text, kind);
  return requireAny(identifier === undefined ? [] : [identifier], text, `is not ${FORMS[kind]}`);
}

const FORMS: Record<RecordType, string> = {
  id: 'a channel ID: "UC" followed by 22 letters, digits, "_" or "-"',
  handle: 'a handle: 1 to 30 letters, digits, "_", "-", "." or "·", at least one letter or digit',
  username: 'a username: 1 to 60 of the characters A-Z a-z 0-9 "_" "-" "."',
};

/** The identifiers that a text may be, in their order. @throws InvalidIdentifier if there are none */
function requireAny(identifiers: readonly Identifier[], text: string, fault: string): readonly Identifier[] {
  if (identifiers.length === 0) throw new InvalidIdentifier(text, fault);
  return identifiers;
}
