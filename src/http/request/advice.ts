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
import { quoted } from '../../lib/printable.ts';
import type { RequestContext } from './context.ts';
import { parseQuery } from './parameters.ts';
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
      return hintForExtension(context);
    default:
      return '';
  }
}

function didYouMean(request: string | undefined): string {
  return request === undefined ? '' : `Did you mean ${request}?`;
}

/** Longer than typical mistakes. Bounds the work and the length of the advice. */
const MAX_CHARACTERS = 300;
/** A query that advice may repeat. */
const REPEATABLE = /^[\x21-\x7e]{0,300}$/;

/** Paths of the private listener, which are never names of channels. */
const OTHER_PATHS: readonly (readonly [path: RegExp, hint: string])[] = [
  [/^\/playground(?:\/|$)/i, 'The playground: /playground/ on the private port.'],
  [/^\/console(?:\/|$)/i, 'The console: / on the private port.'],
  [/^\/healthz(?:\/|$)/i, 'Health: /healthz on the private port.'],
  [/^\/readyz(?:\/|$)/i, 'Readiness: /readyz on the private port.'],
  [/^\/metrics(?:\/|$)/i, 'Metrics: /metrics on the private port.'],
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
  return '';
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

/** `search?q=text`, `channels?ids=A,B`, `badge/name`, `API/Channel/ID`. The path is decoded and has no slash at the beginning. */
function findNearestEndpoint(path: string, query: string): string | undefined {
  const [first = '', name = ''] = path.replace(/^api\//i, '').split('/');
  const endpoint = first.toLowerCase();
  if (endpoint === 'search' && /[?&]q=[^&]/.test(query)) return `/api/search${query}`;
  if (endpoint === 'channels' && /[?&]ids=[^&]/.test(query)) return `/api/channels${query}`;
  const isNamed = endpoint === 'banner' || endpoint === 'badge' || (endpoint === 'channel' && /^api\//i.test(path));
  const [ref] = isNamed ? refsOfBareIdentifier(name) : [];
  return ref && requestOf(endpoint, ref);
}

/** Seen at www.youtube.com, 2026-11. The error for any other second segment lists the images. */
const TABS =
  /^(?:about|channels|community|featured|live|playlists|podcasts|posts|releases|shorts|store|streams|videos)$/i;

function findNearestPage(path: string): string | undefined {
  const [name = '', second = '', third] = path.split('/');
  // `channel/ID/videos`: a tab of a channel page
  const isPage = third !== undefined && /^(?:channel|user|c)$/.test(name);
  const [page] = isPage ? refsOfPage(`${name}/${second}`) : [];
  if (page !== undefined) return `/${page.kind === 'id' ? 'channel' : name}/${escaped(second)}`;
  // `@name/videos`
  if (TABS.test(second) && isPageName(name)) return `/${escaped(name)}`;
  if (second !== '') return undefined;
  // A channel ID with something around it or without its `UC`
  const [pasted] = channelRefsOf(name);
  if (pasted?.kind === 'id') return pathOf(pasted);
  // `name`, but no file: vulnerability scanners request files.
  const isName = /^[\p{L}\p{N}]/u.test(name) && !NEAR_CHANNEL_ID.test(name) && !/\.[a-z]{2,5}$/i.test(name);
  const handle = isName ? findHandle(name) : undefined;
  return handle && pathOf(handle);
}

function isPageName(name: string): boolean {
  return isChannelId(name) || (name.startsWith('@') && findHandle(name) !== undefined);
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
  if (!isChannelId(name)) return identifierNote(name).trim();
  const { type } = parseQuery(target.query);
  const isReadAsName =
    name !== identifier || type === 'handle' || type === 'username' || endpoint?.url === '/user/:identifier';
  const isImage = /banner|badge|^\/:/.test(endpoint?.url ?? '');
  return isReadAsName ? didYouMean(isImage ? `/${name}` : `/channel/${name}`) : '';
}
