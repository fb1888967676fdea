import { AppError } from '../../domain/errors.ts';
import { findFormat, formatRow } from '../../domain/formats.ts';
import { findIdentifier, type Identifier, identifiersOfBareName } from '../../domain/identifier.ts';
import { findChannelId, identifiersIn, MAX_PASTED_CHARACTERS, readPasted } from '../../domain/pasted.ts';
import { isVariant } from '../../domain/variants.ts';
import { quoted } from '../../lib/printable.ts';
import type { RequestContext } from './context.ts';
import { parseQuery } from './parameters.ts';

/** A text in the place of a channel's identifier that cannot be one. */
export class InvalidIdentifier extends AppError {
  readonly text: string;

  /** @param fault the end of a sentence that begins with the text */
  constructor(text: string, fault: string) {
    super('invalid_parameter', `${quoted(text)} ${fault}.`);
    this.text = text;
  }
}

interface FailedRequest {
  /** The decoded path, without the slash at its beginning. */
  readonly path: string;
  /** The query with its question mark, or an empty text. */
  readonly query: string;
  /** What stands where an identifier could be. */
  readonly text: string;
}

const ID_IN_ANY_CASE = /^@?uc[\w-]{22}$/i;
const ID_OF_BOTH_CASES = /^@?UC(?=.*[a-z]).*[A-Z]/;
const NEAR_ID = /^UC[\w-]{15,30}$/;
/** The tabs of a channel page (seen at www.youtube.com, 2026-11). */
const TAB =
  /\/(?:about|channels|community|featured|live|playlists|podcasts|posts|releases|shorts|store|streams|videos)$/i;
const EXTENSION = /\.[a-z]{2,5}$/i;
const LIST = /^(?:api\/)?(search|channels)\?(?=.*\b(?:q|ids)=[^&])[\x21-\x7e]{1,300}$/i;
const ENDPOINT = /^(?:api\/)?(channel|banner|badge)\/([^/]+)/i;
const PRIVATE_PATH = /^(?:playground|healthz|readyz|metrics)(?:\/|$)/;
/** A path of a record, or nearly one. */
const RECORD = /^(?:(?:api\/)?channels?|user|c)\//i;
const USE = 'use the ID or the @handle of a channel.';
/** Files, of which vulnerability scanners request many, and the first segments of endpoints. */
const NO_NAME = /^[^\p{L}\p{N}]|\.[a-z]{2,5}$|^(?:api|badge|banner|c|channels?|search|user)$/iu;

/** Advice for the detail of an error, as a sentence; empty if there is none. */
export function findAdvice(error: AppError, context: RequestContext): string {
  const advice = context.target.path.length > MAX_PASTED_CHARACTERS ? undefined : advise(error, context);
  const basePath = context.base.replace(ORIGIN, '');
  if (advice !== undefined) return advice.startsWith('/') ? `Did you mean ${basePath}${advice}?` : advice;
  return error.code === 'route_not_found' ? `GET ${basePath}/ lists the endpoints.` : '';
}

const ORIGIN = /^https?:\/\/[^/]*/;

/**
 * A sentence, or the path of the request that works. The first advice that applies is given. No source is asked, so the request
 * may be for a channel that does not exist.
 */
function advise(error: AppError, { target, pathParameters }: RequestContext): string | undefined {
  const path = decodeURIComponent(target.path.slice(1));
  const { query } = target;
  const { identifier: text = '' } = pathParameters;
  if (error.code === 'channel_not_found') return adviseOnId(text) ?? adviseOnExtension(text);
  if (error instanceof InvalidIdentifier) {
    return adviseOnPasted({ path, query, text: error.text }) ?? adviseOnName(error.text, path);
  }
  if (error.code === 'invalid_parameter') return adviseOnType({ path, query, text });
  if (error.code !== 'route_not_found') return undefined;
  if (PRIVATE_PATH.test(path)) return 'That is on the private port.';
  // The router's path has no empty segments.
  const end = path.replace(/^api\/(?:channels?|banner|badge)\//i, '').replace(/(https?:)\/+/i, '$1//');
  const advice = adviseOnPasted({ path, query, text: end }) ?? adviseOnEndpoint(path, query);
  return advice ?? (NO_NAME.test(end) ? undefined : adviseOnName(end, path));
}

function adviseOnPasted(failed: FailedRequest): string | undefined {
  return adviseOnOtherPage(failed) ?? adviseOnId(failed.text) ?? adviseOnAddress(failed);
}

/** A video, a playlist or another page. */
function adviseOnOtherPage({ path, query, text }: FailedRequest): string | undefined {
  const pasted = readPasted(text + query);
  if (pasted?.names === 'other page') return `That is a page without a channel: ${USE}`;
  const below = readPasted(`youtube.com/${path}${query}`);
  const page = [pasted, below].find((read) => read?.names === 'video' || read?.names === 'playlist');
  return page && `That is a ${page.names}: ${USE}`;
}

/** An ID in the wrong letter case, without its `UC` or of the wrong length, or an uploads list. */
function adviseOnId(text: string): string | undefined {
  if (ID_IN_ANY_CASE.test(text) && !ID_OF_BOTH_CASES.test(text)) return 'Channel IDs are case-sensitive.';
  const channelId = findChannelId(text);
  if (channelId !== undefined) return channelId === text ? undefined : `/${channelId}`;
  return NEAR_ID.test(text) ? `${quoted(text)} has ${text.length} characters, a channel ID has 24.` : undefined;
}

/** A pasted address, a tab of a channel page, or an ID or a handle with something around it, such as an extension. */
function adviseOnAddress({ path, query, text }: FailedRequest): string | undefined {
  const pasted = [text + query, text, text.replace(EXTENSION, ''), ...(TAB.test(text) ? [`youtube.com/${text}`] : [])];
  return requestFor(pasted.flatMap(identifiersIn)[0], path);
}

/** The `type` of the other endpoint. */
function adviseOnType({ path, query, text }: FailedRequest): string | undefined {
  const { type } = parseQuery(query);
  if (type === 'id' || type === 'handle' || type === 'username') return requestFor(findIdentifier(text, type), path);
  const isImage = typeof type === 'string' && isVariant(type) && identifiersOfBareName(text).length > 0;
  return isImage && RECORD.test(path) ? `/api/banner/${escaped(text)}?type=${type}` : undefined;
}

/** An extension behind a handle, which is read as a part of the handle. */
function adviseOnExtension(text: string): string | undefined {
  const [, handle = '', extension = ''] = /^(@.+)\.([^.]+)$/.exec(text) ?? [];
  const format = findFormat(extension.toLowerCase());
  return format && `/${escaped(handle)}/default.${formatRow(format).extension}`;
}

/** A misspelt endpoint. */
function adviseOnEndpoint(path: string, query: string): string | undefined {
  const [, list] = LIST.exec(path + query) ?? [];
  if (list !== undefined) return `/api/${list.toLowerCase()}${query}`;
  const [, endpoint, name = ''] = ENDPOINT.exec(path) ?? [];
  return adviseOnName(name, `api/${endpoint}/`);
}

/** A bare name. */
function adviseOnName(name: string, path: string): string | undefined {
  return requestFor(identifiersOfBareName(name)[0], path);
}

/** The request for a channel that gives what a request for this path was to give: its record, its badge or an image. */
function requestFor(identifier: Identifier | undefined, path: string): string | undefined {
  if (identifier === undefined) return undefined;
  const { kind, value } = identifier;
  const name = encodeURIComponent(value);
  if (kind === 'custom') return `/c/${name}`;
  if (kind === 'username') return `/user/${name}`;
  const named = kind === 'handle' ? `@${name}` : name;
  if (/^api\/badge\//i.test(path)) return `/api/badge/${named}`;
  if (!RECORD.test(path)) return `/${named}`;
  return kind === 'handle' ? `/api/channel/${name}?type=handle` : `/channel/${name}`;
}

function escaped(identifier: string): string {
  return encodeURIComponent(identifier).replace(/^%40/, '@');
}
