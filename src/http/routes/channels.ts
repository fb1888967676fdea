import {
  type ChannelRef,
  findIdentifier,
  type IdentifierKind,
  isChannelId,
  refsOfBareIdentifier,
  refsOfCustomName,
} from '../../domain/identifier.ts';
import { quoted } from '../../lib/printable.ts';
import type { ChannelService } from '../../services/channels.ts';
import type { SearchService } from '../../services/search.ts';
import { InvalidIdentifier } from '../request/advice.ts';
import { disconnectSignal, type Endpoint, type PublicResponse } from '../request/context.ts';
import { CHANNEL_QUERY, parseQuery, readQuery, SEARCH_QUERY } from '../request/parameters.ts';
import type { RequestTarget } from '../request/target.ts';
import { type ImageUrlStyle, jsonResponse, type RecordBodyOf, searchResultOf } from '../response/serializers.ts';

export interface ChannelRouteOptions {
  readonly channels: ChannelService;
  readonly recordBodyOf: RecordBodyOf;
}

/** The response with the record of the first reference that leads to a channel. */
export async function recordResponse(
  { channels, recordBodyOf }: ChannelRouteOptions,
  refs: readonly ChannelRef[],
  base: string,
): Promise<PublicResponse> {
  const { channel, outcome } = await channels.getChannel(refs);
  return jsonResponse(outcome, recordBodyOf(channel, base));
}

/** The record as JSON: by identifier and `type`, and at the paths of channel pages. */
export function channelRoutes(options: ChannelRouteOptions): Endpoint[] {
  const readers: Record<string, (identifier: string, target: RequestTarget) => readonly ChannelRef[]> = {
    '/api/channel/:identifier': (identifier, target) => {
      const { type } = readQuery(CHANNEL_QUERY, parseQuery(target.query));
      return parseIdentifier(identifier, type);
    },
    '/channel/:identifier': (identifier) => parseIdentifier(identifier, 'id'),
    '/user/:identifier': (identifier) => parseIdentifier(identifier, 'username'),
    '/c/:identifier': parseCustomName,
  };
  return Object.entries(readers).map(([url, read]) => ({
    url,
    respond: (_path, { pathParameters, target, base }) =>
      recordResponse(options, read(pathParameters.identifier ?? '', target), base),
  }));
}

export function searchRoute(options: ImageUrlStyle & { readonly searches: SearchService }): Endpoint {
  return {
    url: '/api/search',
    async respond(_path, context) {
      const { target, base } = context;
      const { q, limit } = readQuery(SEARCH_QUERY, parseQuery(target.query));
      const { hits, outcome } = await options.searches.search(q, limit, disconnectSignal(context));
      const results = hits.map((hit) => searchResultOf(hit, base, options));
      return jsonResponse(outcome, { body: JSON.stringify({ query: q, results }) });
    },
  };
}

function parseCustomName(name: string): ChannelRef[] {
  const refs = isChannelId(name) ? [] : refsOfCustomName(name);
  if (refs.length > 0) return refs;
  throw new InvalidIdentifier(name, `${quoted(name)} can be neither a custom name nor a handle.`);
}

/**
 * Reads an identifier whose kind the request does not name: a channel ID, an `@handle` or a bare name.
 *
 * @throws InvalidIdentifier
 */
export function parseBareIdentifier(text: string): readonly ChannelRef[] {
  const refs = refsOfBareIdentifier(text);
  if (refs.length > 0) return refs;
  const forms = 'neither a channel ID ("UC" and 22 characters), nor an @handle, nor a user name';
  throw new InvalidIdentifier(text, `${quoted(text)} is ${forms}.`);
}

type RecordType = Exclude<IdentifierKind, 'custom'>;

/**
 * Reads an identifier as the kind in its path or `type`.
 *
 * @throws InvalidIdentifier
 */
function parseIdentifier(text: string, kind: RecordType): readonly ChannelRef[] {
  const ref = findIdentifier(text, kind);
  if (ref !== undefined) return [ref];
  throw new InvalidIdentifier(text, `${quoted(text)} is not ${FORMS[kind]}`);
}

const FORMS: Record<RecordType, string> = {
  id: 'a channel ID: "UC" followed by 22 letters, digits, "_" or "-".',
  handle: 'a handle: 1 to 30 letters, digits, "_", "-", "." or "·", at least one letter or digit.',
  username: 'a username: 1 to 60 of the characters A-Z a-z 0-9 "_" "-" ".".',
};
