import { AppError } from '../../domain/errors.ts';
import { findFormat, formatRow, titleOfFormat } from '../../domain/formats.ts';
import {
  type ChannelRef,
  findHandle,
  findIdentifier,
  isChannelId,
  refsOfBareIdentifier,
} from '../../domain/identifier.ts';
import { channelRefsOf, findChannelId } from '../../domain/pasted.ts';
import { isVariant } from '../../domain/variants.ts';
import { ConnectionError } from '../../lib/http/http-client.ts';
import { quoted } from '../../lib/printable.ts';
import type { RequestContext } from './context.ts';
import { MAX_SEARCH_CODE_POINTS, parseQuery } from './parameters.ts';
import { isDecodable } from './target.ts';

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
      return hintForMissingChannel(context);
    case 'upstream_unavailable':
      return `${hintForExtension(context)} ${error instanceof AppError && isUnreachable(error) ? OFFLINE : ''}`.trim();
    default:
      return '';
  }
}

const OFFLINE = 'The upstream is YouTube. Without a connection to it, start the service with SOURCES=catalog.';

/** Errors that were thrown again with a `Retry-After` have the first one as their cause. */
function isUnreachable(error: Error): boolean {
  return error instanceof ConnectionError || (error.cause instanceof AppError && isUnreachable(error.cause));
}

function didYouMean(request: string | undefined): string {
  return request === undefined ? '' : `Did you mean ${request}?`;
}

/** Longer than typical mistakes. Bounds the work and the length of the advice. */
const MAX_CHARACTERS = 300;
/** A query that advice may repeat. */
const REPEATABLE = /^[\x21-\x7e]{0,300}$/;

/** Paths of the private listener and of other software, which are never names of channels. */
const OTHER_PATHS: readonly (readonly [path: RegExp, hint: string])[] = [
  [/^\/playground(?:\/|$)/i, 'The playground: /playground/ on the private port.'],
  [/^\/console(?:\/|$)/i, 'The console: / on the private port.'],
  [/^\/healthz(?:\/|$)/i, 'Health: /healthz on the private port.'],
  [/^\/readyz(?:\/|$)/i, 'Readiness: /readyz on the private port.'],
  [/^\/metrics(?:\/|$)/i, 'Metrics: /metrics on the private port.'],
  [/^\/(?:docs|documentation|swagger|redoc|api-docs|openapi)(?:\/|$)/i, 'The API is described at /openapi.json.'],
  [/^\/api$/i, 'GET / lists the endpoints.'],
];

const ANY_CASE_CHANNEL_ID = /^uc[\w-]{22}$/i;
const MIXED_CASE_CHANNEL_ID = /^UC(?=.*[a-z]).*[A-Z]/;
/** The note on a channel ID in another letter case. */
export const CASE_NOTE = ' Channel IDs are case-sensitive.';

/** Whether the text is a channel ID that was probably changed to lower or upper case. */
function isChannelIdOfOneCase(text: string): boolean {
  return ANY_CASE_CHANNEL_ID.test(text) && !MIXED_CASE_CHANNEL_ID.test(text);
}

const NEAR_CHANNEL_ID = /^UC[\w-]{15,30}$/;
const EMBEDDED_CHANNEL_ID = /(?<![\w-])UC[\w-]{22}(?![\w-])/;
/** Eleven characters of base64url, with a capital letter and a digit, `_` or `-`. Few names have both. */
const VIDEO_ID = /^(?=.*[A-Z])(?=.*[\d_-])[\w-]{11}$/;
const VIDEO = 'use the ID or the @handle of its channel.';

/** What a text that is not accepted as an identifier may be instead, as a sentence with a leading space. */
export function identifierNote(identifier: string): string {
  if (isChannelIdOfOneCase(identifier)) return CASE_NOTE;
  if (identifier.length > MAX_CHARACTERS || isChannelId(identifier)) return '';
  const named = findChannelId(identifier);
  if (named !== undefined) return ` Did you mean /${named}?`;
  if (NEAR_CHANNEL_ID.test(identifier)) {
    return ` ${quoted(identifier)} has ${identifier.length} characters, a channel ID has 24.`;
  }
  const [embedded] = EMBEDDED_CHANNEL_ID.exec(identifier) ?? [];
  if (embedded !== undefined) return ` Did you mean ${embedded}?`;
  return VIDEO_ID.test(identifier) ? ` If it is a video: ${VIDEO}` : '';
}

function hintForPath(rawPath: string, query: string): string | undefined {
  if (rawPath.length > MAX_CHARACTERS || !REPEATABLE.test(query)) return undefined;
  const [, elsewhere] = OTHER_PATHS.find(([pattern]) => pattern.test(rawPath)) ?? [];
  if (elsewhere !== undefined) return elsewhere;
  const path = decodeURIComponent(rawPath.slice(1));
  if (isChannelIdOfOneCase(path.split('/', 1)[0] ?? '')) return CASE_NOTE.trim();
  if (isVideoPage(path, query)) return `That is a video: ${VIDEO}`;
  const note = path.includes('/') ? '' : identifierNote(path);
  const request = findPastedPage(path) ?? findNearestEndpoint(path, query) ?? findNearestPage(path);
  if (request === undefined) return note.trim() || undefined;
  return `${didYouMean(request)}${note.includes('Did you mean') ? '' : note}`;
}

/** An escaped slash is refused. It appears when a whole URL was escaped. */
function hintForMalformed(rawUrl: string): string {
  if (rawUrl.length > MAX_CHARACTERS || !/%2f/i.test(rawUrl) || !isDecodable(rawUrl)) return '';
  const [path = ''] = decodeURIComponent(rawUrl).split(/[?#]/);
  return didYouMean(findPastedPage(path.replaceAll(/\/{2,}/g, '/').slice(1)));
}

const UP_TO_SITE = /^(?:.*?\/)??(?:(?:www|m|music)\.)?youtube\.com(?:\/|$)/is;

function isVideoPage(path: string, query: string): boolean {
  if (/(?:^|\/)youtu\.be(?:\/|$)/i.test(path)) return true;
  // A badge of shields.io
  if (/^youtube\/(?:comments|likes|views)\/[\w-]{11}(?:\.svg)?$/.test(path)) return true;
  const page = path.replace(UP_TO_SITE, '');
  if (/^watch(?:\/|$)/.test(page)) return /[?&]v=/.test(query);
  return /^(?:shorts|live|embed|v)\/[\w-]{11}(?:\/|$)/.test(page);
}

/** `https://www.youtube.com/@name`, also below `api/channel/`. */
function findPastedPage(path: string): string | undefined {
  const page = path.replace(UP_TO_SITE, '');
  const [ref] = page === path ? [] : refsOfPage(page);
  if (ref === undefined) return undefined;
  const [, endpoint] = /^api\/([^/]*)/.exec(path) ?? [];
  return endpoint === undefined ? pathOf(ref) : requestOf(endpoint, ref);
}

function refsOfPage(page: string): readonly ChannelRef[] {
  return channelRefsOf(`https://www.youtube.com/${page.split('/').map(encodeURIComponent).join('/')}`);
}

/** The most similar request that works. The path is decoded and has no slash at the beginning. */
function findNearestEndpoint(path: string, query: string): string | undefined {
  const isBelowApi = /^api\//i.test(path);
  const [first = '', name = '', segment = ''] = path.slice(isBelowApi ? 4 : 0).split('/');
  const endpoint = first.toLowerCase();
  // `search?q=text`, `api/search/text`
  if (endpoint === 'search') {
    if (/[?&]q=[^&]/.test(query)) return `/api/search${query}`;
    if (name !== '' && name.length <= MAX_SEARCH_CODE_POINTS) return searchFor(name);
  }
  // `channels?ids=A,B`, `api/channels/A,B`
  if (endpoint === 'channels') {
    if (/[?&]ids=[^&]/.test(query)) return `/api/channels${query}`;
    const ids = name.split(',');
    if (ids.every(isPageName)) return `/api/channels?ids=${ids.map(escaped).join(',')}`;
  }
  // `api/ID`
  if (isBelowApi && name === '' && isPageName(first)) return `/api/banner/${escaped(first)}`;
  // `badge/name`, `API/Channel/ID`, `api/banner/ID/TV`
  const isEndpoint = endpoint === 'banner' || endpoint === 'badge' || (isBelowApi && endpoint === 'channel');
  const [ref] = isEndpoint ? refsOfBareIdentifier(name) : [];
  const variant = endpoint === 'banner' ? findVariant(segment) : undefined;
  return ref && requestOf(endpoint, ref) + (variant === undefined ? '' : `/${variant}`);
}

/** Seen at www.youtube.com, 2026-11. The error for any other second segment lists the images. */
const TABS =
  /^(?:about|channels|community|featured|live|playlists|podcasts|posts|releases|shorts|store|streams|videos)$/i;

function findNearestPage(path: string): string | undefined {
  const [name = '', second = '', third] = path.split('/');
  // `ID/TV`, `@name/phone`
  const variant = third === undefined && !/^api$/i.test(name) ? findVariant(second) : undefined;
  if (variant !== undefined && refsOfBareIdentifier(name).length > 0) return `/${escaped(name)}/${variant}`;
  // `channel/ID/videos`: a tab of a channel page
  const isPage = third !== undefined && /^(?:channel|user|c)$/.test(name);
  const [page] = isPage ? refsOfPage(`${name}/${second}`) : [];
  if (page !== undefined) return `/${page.kind === 'id' ? 'channel' : name}/${escaped(second)}`;
  // `@name/videos`
  if (TABS.test(second) && isPageName(name)) return `/${escaped(name)}`;
  if (second !== '') return undefined;
  // `ID.gif`: a wrong extension
  const [, named, extension = ''] = /^(UC[\w-]{22})\.(.*)$/s.exec(name) ?? [];
  if (named !== undefined) return withExtension(`/${named}`, extension.toLowerCase());
  // A channel ID without its `UC` or within other text
  const id = findChannelId(name) ?? EMBEDDED_CHANNEL_ID.exec(name)?.[0];
  if (id !== undefined) return `/${id}`;
  // `name`, but no file: vulnerability scanners request files.
  const isName = /^[\p{L}\p{N}]/u.test(name) && !NEAR_CHANNEL_ID.test(name) && !/\.[a-z]{2,5}$/i.test(name);
  const handle = isName ? findHandle(name) : undefined;
  return handle && pathOf(handle);
}

function isPageName(name: string): boolean {
  return isChannelId(name) || (name.startsWith('@') && findHandle(name) !== undefined);
}

/** The variant, with its extension, that a path segment probably means. */
function findVariant(segment: string): string | undefined {
  const [name = '', extension = ''] = segment.toLowerCase().split('.', 2);
  const variant = name === 'phone' ? 'mobile' : name;
  return isVariant(variant) ? withExtension(variant, extension) : undefined;
}

/** Appends the extension if it is that of a format. */
function withExtension(path: string, extension: string): string {
  return findFormat(extension) === undefined ? path : `${path}.${extension}`;
}

function searchFor(text: string): string {
  return `/api/search?q=${encodeURIComponent(text)}`;
}

function escaped(name: string): string {
  return encodeURIComponent(name).replace(/^%40/, '@');
}

/** The path of the channel's banner, or of its record if it is known by its user name or custom name. */
function pathOf({ kind, value }: ChannelRef): string {
  if (kind === 'id') return `/${value}`;
  if (kind === 'handle') return `/@${encodeURIComponent(value)}`;
  return `/${kind === 'custom' ? 'c' : 'user'}/${encodeURIComponent(value)}`;
}

function requestOf(endpoint: string | undefined, ref: ChannelRef): string {
  const { kind, value } = ref;
  if (kind === 'custom') return pathOf(ref);
  const name = encodeURIComponent(value);
  if (endpoint === 'channel') return `/api/channel/${name}${kind === 'id' ? '' : `?type=${kind}`}`;
  return `/api/${endpoint === 'badge' ? 'badge' : 'banner'}/${kind === 'handle' ? '@' : ''}${name}`;
}

/** `type` has another meaning for records than for images. */
function findRequestOfType({ endpoint, pathParameters, target }: RequestContext): string | undefined {
  const { identifier = '' } = pathParameters;
  const { type } = parseQuery(target.query);
  if (type === 'id' || type === 'handle' || type === 'username') {
    const ref = endpoint?.url.includes('channel') ? undefined : findIdentifier(identifier, type);
    return ref && requestOf('banner', ref);
  }
  const isImage = type === 'phone' || (typeof type === 'string' && isVariant(type));
  if (!isImage || endpoint?.url !== '/api/channel/:identifier') return undefined;
  return refsOfBareIdentifier(identifier).length > 0
    ? `/api/banner/${escaped(identifier)}?type=${type === 'phone' ? 'mobile' : type}`
    : undefined;
}

/** Names the path for the format, because an extension after a handle is read as a part of the handle. */
function hintForExtension({ pathParameters, endpoint }: Pick<RequestContext, 'pathParameters' | 'endpoint'>): string {
  const [, handle = '', extension = ''] = /^@(.+)\.([^.]+)$/.exec(pathParameters.identifier ?? '') ?? [];
  const format = findFormat(extension.toLowerCase());
  if (format === undefined || !/banner|^\/:/.test(endpoint?.url ?? '')) return '';
  return `For a ${titleOfFormat(format)}: /@${encodeURIComponent(handle)}/default.${formatRow(format).extension}.`;
}

function hintForMissingChannel({ pathParameters, endpoint, target }: RequestContext): string {
  const { identifier = '' } = pathParameters;
  const name = identifier.replace(/^@/, '');
  if (isChannelIdOfOneCase(name)) return CASE_NOTE.trim();
  const extensionHint = hintForExtension({ pathParameters, endpoint });
  if (extensionHint !== '') return extensionHint;
  if (!isChannelId(name)) return `${identifierNote(name)} Search for it: ${searchFor(name)}.`.trim();
  const { type } = parseQuery(target.query);
  const isReadAsName =
    name !== identifier || type === 'handle' || type === 'username' || endpoint?.url === '/user/:identifier';
  const isImage = /banner|badge|^\/:/.test(endpoint?.url ?? '');
  return isReadAsName ? didYouMean(isImage ? `/${name}` : `/channel/${name}`) : '';
}
