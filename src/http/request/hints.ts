import { AppError } from '../../domain/errors.ts';
import { findFormat } from '../../domain/formats.ts';
import {
  type ChannelRef,
  channelRefsOf,
  findHandle,
  findIdentifier,
  isChannelId,
  refsOfBareIdentifier,
} from '../../domain/identifier.ts';
import { quoted } from '../../domain/printable.ts';
import { isVariant } from '../../domain/variants.ts';
import type { RequestContext } from './context.ts';
import { parseQuery } from './target.ts';

/*
 * Advice for failed requests: the most similar request that works. Nothing here calls a source, so the advice may name a
 * channel that does not exist.
 */

/** Advice for the detail of an error, as whole sentences; empty if there is none. */
export function findHint(error: unknown, context: RequestContext): string {
  switch (error instanceof AppError ? error.code : undefined) {
    case 'route_not_found':
      return hintForPath(context.target.path, context.target.query) ?? 'GET / lists the endpoints.';
    case 'malformed_request':
      return hintForMalformed(context.request.url ?? '');
    case 'invalid_parameter':
      return didYouMean(findRequestOfType(context));
    case 'channel_not_found':
      return hintForMissing(context);
    default:
      return '';
  }
}

function didYouMean(request: string | undefined): string {
  return request === undefined ? '' : `Did you mean ${request}?`;
}

/** Longer than typical mistakes. Bounds the work and the length of the advice. */
const MAX_CHARACTERS = 300;
const REPEATABLE = /^[\x21-\x7e]{0,300}$/;

const NEAR_CHANNEL_ID = /^UC[\w-]{15,30}$/;
const EMBEDDED_CHANNEL_ID = /(?<![\w-])UC[\w-]{22}(?![\w-])/;
/** Eleven characters of base64url, mixed as in few names. */
const VIDEO_ID = /^(?=.*[A-Z])(?=.*[\d_-])[\w-]{11}$/;
const VIDEO = 'use the ID or the @handle of its channel.';

/** What a text that is not accepted as an identifier may be instead, as a sentence with a leading space. */
export function identifierNote(identifier: string): string {
  if (identifier.length > MAX_CHARACTERS || isChannelId(identifier)) return '';
  if (NEAR_CHANNEL_ID.test(identifier)) {
    return ` ${quoted(identifier)} has ${identifier.length} characters, a channel ID has 24.`;
  }
  const [embedded] = EMBEDDED_CHANNEL_ID.exec(identifier) ?? [];
  if (embedded !== undefined) return ` Did you mean ${embedded}?`;
  return VIDEO_ID.test(identifier) ? ` If it is a video: ${VIDEO}` : '';
}

/** In this order. Each gets the decoded segments of the path. */
const FINDERS: readonly ((segments: readonly string[], query: string) => string | undefined)[] = [
  findPastedPage,
  findSearch,
  findBatch,
  findEndpoint,
  findPicture,
  findTab,
  findChannelId,
  findHandlePage,
];

function hintForPath(path: string, query: string): string | undefined {
  const segments = decodedSegments(path);
  if (segments === undefined || !REPEATABLE.test(query)) return undefined;
  if (isVideoPage(segments, query)) return `That is a video: ${VIDEO}`;
  const note = segments.length === 1 ? identifierNote(segments[0] ?? '') : '';
  for (const find of FINDERS) {
    const request = find(segments, query);
    if (request !== undefined) return `${didYouMean(request)}${note.includes('Did you mean') ? '' : note}`;
  }
  return note.trim() || undefined;
}

function decodedSegments(path: string): string[] | undefined {
  if (path.length > MAX_CHARACTERS) return undefined;
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeURIComponent);
}

/** An escaped slash is refused. It is there when a whole URL was escaped. */
function hintForMalformed(rawUrl: string): string {
  if (rawUrl.length > MAX_CHARACTERS || !/%2f/i.test(rawUrl)) return '';
  try {
    const [path = ''] = decodeURIComponent(rawUrl).split(/[?#]/);
    return didYouMean(findPastedPage(path.split('/').filter((segment) => segment !== '')));
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}

const SITE = /^(?:(?:www|m|music)\.)?youtube\.com$/i;

function isVideoPage(segments: readonly string[], query: string): boolean {
  const at = segments.findIndex((segment) => SITE.test(segment));
  if (segments.some((segment) => segment.toLowerCase() === 'youtu.be')) return true;
  const [page = '', id = ''] = segments.slice(at + 1);
  if (page === 'watch') return /[?&]v=/.test(query);
  return ['shorts', 'live', 'embed', 'v'].includes(page) && /^[\w-]{11}$/.test(id);
}

/** `/https://www.youtube.com/@name`, also below `/api/channel/`. */
function findPastedPage(segments: readonly string[]): string | undefined {
  const at = segments.findIndex((segment) => SITE.test(segment));
  if (at === -1) return undefined;
  const [ref] = refsOfPage(segments.slice(at + 1));
  if (ref === undefined) return undefined;
  return segments[0] === 'api' ? requestOf(segments[1], ref) : pathOf(ref);
}

function refsOfPage(segments: readonly string[]): ChannelRef[] {
  return channelRefsOf(`https://www.youtube.com/${segments.map(encodeURIComponent).join('/')}`);
}

/** `/search?q=text`, `/api/search/text` */
function findSearch(segments: readonly string[], query: string): string | undefined {
  const [endpoint, text = ''] = belowApi(segments);
  if (endpoint !== 'search') return undefined;
  if (/[?&]q=[^&]/.test(query)) return `/api/search${query}`;
  return text === '' || text.length > MAX_SEARCH_CHARACTERS ? undefined : searchFor(text);
}

const MAX_SEARCH_CHARACTERS = 100;

function searchFor(text: string): string {
  return `/api/search?q=${encodeURIComponent(text)}`;
}

/** `/channels?ids=A,B`, `/api/channels/A,B` */
function findBatch(segments: readonly string[], query: string): string | undefined {
  const [endpoint, ids = ''] = belowApi(segments);
  if (endpoint !== 'channels') return undefined;
  if (/[?&]ids=[^&]/.test(query)) return `/api/channels${query}`;
  const isList = ids.split(',').every((id) => isChannelId(id) || (id.startsWith('@') && findHandle(id) !== undefined));
  return isList ? `/api/channels?ids=${ids.split(',').map(escaped).join(',')}` : undefined;
}

/** `/badge/name`, `/API/Channel/ID`, `/api/banner/ID/TV`, `/api/ID` */
function findEndpoint(segments: readonly string[]): string | undefined {
  const [endpoint = '', name = '', segment = ''] = belowApi(segments);
  const isOfApi = segments[0]?.toLowerCase() === 'api';
  if (isOfApi && name === '' && isPageName(endpoint)) return `/api/banner/${escaped(endpoint)}`;
  if (!(endpoint === 'banner' || endpoint === 'badge' || (isOfApi && endpoint === 'channel'))) return undefined;
  const [ref] = refsOfBareIdentifier(name);
  const variant = endpoint === 'banner' ? findVariant(segment) : undefined;
  return ref && requestOf(endpoint, ref) + (variant === undefined ? '' : `/${variant}`);
}

/** Without `api`. The endpoint's name is in lower case. */
function belowApi(segments: readonly string[]): string[] {
  const [name = '', ...rest] = segments[0]?.toLowerCase() === 'api' ? segments.slice(1) : segments;
  return [isPageName(name) ? name : name.toLowerCase(), ...rest];
}

function isPageName(name: string): boolean {
  return isChannelId(name) || (name.startsWith('@') && findHandle(name) !== undefined);
}

/** `/ID/TV`, `/@name/phone` */
function findPicture([name = '', segment = '', ...others]: readonly string[]): string | undefined {
  const variant = findVariant(segment);
  const isChannel = name.toLowerCase() !== 'api' && refsOfBareIdentifier(name).length > 0;
  return variant !== undefined && isChannel && others.length === 0 ? `/${escaped(name)}/${variant}` : undefined;
}

/** The variant, with its extension, that a path segment almost is. */
function findVariant(segment: string): string | undefined {
  const [name = '', extension = ''] = segment.toLowerCase().split('.', 2);
  const variant = name === 'phone' ? 'mobile' : name;
  if (!isVariant(variant)) return undefined;
  return findFormat(extension) === undefined ? variant : `${variant}.${extension}`;
}

/** `/channel/ID/videos`, `/@name/videos`: a tab of a channel page. */
function findTab(segments: readonly string[]): string | undefined {
  const [first = '', second = ''] = segments;
  if (['channel', 'user', 'c'].includes(first) && segments.length > 2) {
    return refsOfPage(segments).length === 0 ? undefined : `/${first}/${escaped(second)}`;
  }
  // For any other second part there is a list of the pictures.
  return isPageName(first) && TABS.has(second.toLowerCase()) ? `/${escaped(first)}` : undefined;
}

/** Seen at www.youtube.com, 2026-11. */
const TABS = new Set(
  'about,channels,community,featured,live,playlists,podcasts,posts,releases,shorts,store,streams,videos'.split(','),
);

/** A channel ID with a wrong extension, with its `UC` in lower case, or within other text. */
function findChannelId([segment = '', ...others]: readonly string[]): string | undefined {
  if (others.length > 0) return undefined;
  const [name = '', extension = ''] = segment.split('.', 2);
  const id = name.replace(/^uc/i, 'UC');
  if (!isChannelId(id)) {
    const [embedded] = EMBEDDED_CHANNEL_ID.exec(segment) ?? [];
    return embedded && `/${embedded}`;
  }
  const format = extension.toLowerCase();
  return findFormat(format) === undefined ? `/${id}` : `/${id}.${format}`;
}

/** `/name` */
function findHandlePage([name = '', ...others]: readonly string[]): string | undefined {
  const handle = others.length > 0 || NEAR_CHANNEL_ID.test(name) ? undefined : findHandle(name);
  // Vulnerability scanners request files.
  if (handle === undefined || !/^[\p{L}\p{N}]/u.test(name) || /\.[a-z]{2,5}$/i.test(name)) return undefined;
  return pathOf(handle);
}

function escaped(name: string): string {
  return encodeURIComponent(name).replace(/^%40/, '@');
}

/** The path of the channel's banner, or of its record if it is known by its user name. */
function pathOf({ kind, value }: ChannelRef): string {
  if (kind === 'id') return `/${value}`;
  return kind === 'handle' ? `/@${encodeURIComponent(value)}` : `/user/${value}`;
}

function requestOf(endpoint: string | undefined, { kind, value }: ChannelRef): string {
  const name = encodeURIComponent(value);
  if (endpoint === 'channel') return `/api/channel/${name}${kind === 'id' ? '' : `?type=${kind}`}`;
  return `/api/${endpoint === 'badge' ? 'badge' : 'banner'}/${kind === 'handle' ? '@' : ''}${name}`;
}

/** `type` has another meaning for records than for pictures. */
function findRequestOfType({ endpoint, pathParameters, target }: RequestContext): string | undefined {
  const { identifier = '' } = pathParameters;
  const { type } = parseQuery(target.query);
  if (typeof type !== 'string') return undefined;
  if (type === 'id' || type === 'handle' || type === 'username') {
    const ref = endpoint?.url.includes('channel') ? undefined : findIdentifier(identifier, type);
    return ref && requestOf('banner', ref);
  }
  const isPicture = type === 'phone' || isVariant(type);
  const isChannel = refsOfBareIdentifier(identifier).length > 0;
  return isPicture && isChannel && endpoint?.url === '/api/channel/:identifier'
    ? `/api/banner/${escaped(identifier)}?type=${type}`
    : undefined;
}

function hintForMissing({ pathParameters, endpoint, target }: RequestContext): string {
  const { identifier = '' } = pathParameters;
  const name = identifier.replace(/^@/, '');
  if (isChannelId(name)) {
    const { type } = parseQuery(target.query);
    const isReadAsName =
      name !== identifier || type === 'handle' || type === 'username' || endpoint?.url === '/user/:identifier';
    const isPicture = /banner|badge|^\/:/.test(endpoint?.url ?? '');
    return isReadAsName ? didYouMean(isPicture ? `/${name}` : `/channel/${name}`) : '';
  }
  return `${identifierNote(name).trim()} Search for it: ${searchFor(name)}.`.trim();
}
