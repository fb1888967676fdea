import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseConfig } from '../src/config/settings.ts';
import { type Channel, isImageUrl, type SearchHit } from '../src/domain/channel.ts';
import { AppError, valueOrError } from '../src/domain/errors.ts';
import { channelRefsOfName } from '../src/domain/pasted.ts';
import { systemClock } from '../src/lib/clock.ts';
import type { HttpClient } from '../src/lib/http/http-client.ts';
import { isJsonObject, type JsonObject, parseJsonObject } from '../src/lib/json.ts';
import { describeFailure } from '../src/lib/logger.ts';
import { printable } from '../src/lib/printable.ts';
import { valuesAt, valuesNamed } from '../src/sources/json.ts';
import { openYoutube } from '../src/sources/registry.ts';
import { type FieldResult, loadFirst } from '../src/sources/source.ts';
import { CHANNEL_LAYOUTS, LANGUAGE } from '../src/sources/youtube/layouts.ts';

/*
 * Records what YouTube sends for a channel, for a public repository. A recording has only members with known names, and no text
 * that could be a token, an address or a key.
 */

/** Names on the paths of values that are not in `layouts.ts`: texts, links, alerts, redirects, tokens, search results. */
const OTHER_NAMES = (
  'simpleText content runs text links primaryLinks channelExternalLinkViewModel title link commandRuns onTap ' +
  'innertubeCommand navigationEndpoint urlEndpoint url endpoint browseEndpoint browseId canonicalBaseUrl ' +
  'alerts alertRenderer type onResponseReceivedActions navigateAction ' +
  'error code status description descriptionPreviewViewModel attribution attributionViewModel suffix ' +
  'rendererContext commandContext showEngagementPanelEndpoint engagementPanel ' +
  'engagementPanelSectionListRenderer sectionListRenderer contents itemSectionRenderer ' +
  'continuationItemRenderer continuationItemViewModel continuationEndpoint continuationCommand button ' +
  'buttonRenderer command token estimatedResults twoColumnSearchResultsRenderer primaryContents ' +
  'onResponseReceivedCommands appendContinuationItemsAction continuationItems channelRenderer channelId ' +
  'descriptionSnippet subscriberCountText videoCountText thumbnail thumbnails lockupViewModel contentType contentId ' +
  'metadata lockupMetadataViewModel contentMetadataViewModel metadataRows metadataParts contentImage ' +
  'avatarViewModel thumbnailViewModel image sources messageRenderer backgroundPromoRenderer bodyText'
).split(' ');

const KNOWN_NAMES = [
  ...[LANGUAGE, ...Object.values(CHANNEL_LAYOUTS).flat()].flatMap((path) => path.split('.')),
  ...OTHER_NAMES,
];

/** Other names in recordings of 2021 to 2026-08. They are never read and are no sign of a change. */
const UNREAD_NAMES = (
  'responseContext trackingParams clickTrackingParams targetId width height style channelUrl ownerUrls rssUrl ' +
  'keywords isFamilySafe availableCountryCodes musicArtistName androidDeepLink androidAppindexingLink ' +
  'iosAppindexingLink facebookProfileId tabPath doubleclickTrackingUsername channelConversionUrl actions ' +
  'artistBio artistBioLabel descriptionLabel customLinksLabel additionalInfoLabel customUrlOnTap ' +
  'signInForBusinessEmail displayCanonicalChannelUrl pageTitle accessibilityLabel channelProfileMicroformatDetails ' +
  'channelHandleText tvBanner mobileBanner'
).split(' ');

interface RecordedCall {
  readonly name: 'resolve' | 'page' | 'about-tab' | 'about' | 'search';
  readonly request: { readonly method: string; readonly url: string; readonly body: JsonObject };
  readonly status: number;
  readonly body: JsonObject;
}

interface RecordOptions {
  /** A directory that does not exist yet. */
  readonly directory: string;
  /** Names of members to keep besides the known ones. */
  readonly keep?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** The time for one load. */
const LOAD_MS = 20_000;
const HITS_IN_INDEX = 5;

/**
 * Loads a channel and searches for it. Writes the last response of each kind into the directory, in the form of
 * `test/fixtures/youtube`, with the values that were read for the whole record.
 *
 * @returns what to tell the reader
 */
export async function recordChannel(channel: string, { directory, keep = [], env = process.env }: RecordOptions) {
  const secret = keep.find((name) => SECRET_NAME.test(name));
  if (secret !== undefined) throw new Error(`"${secret}" may hold a secret and is never kept.`);
  const calls = new Map<RecordedCall['name'], RecordedCall>();
  const results = new Map<keyof Channel, FieldResult>();
  const source = openYoutube(parseConfig(env), {
    userAgent: 'Pennant',
    wrapHttp: (_upstream, http) => recordCalls(http, (call) => calls.set(call.name, call)),
    onField: (_source, field, result) => results.set(field, result),
  });
  const resultOf = <T>(work: (options: { signal: AbortSignal }) => Promise<T>) =>
    valueOrError(work({ signal: AbortSignal.timeout(LOAD_MS) }));
  const found = await resultOf((options) => loadFirst(source, channelRefsOfName(channel), options));
  const title = found instanceof AppError ? channel : found.loaded.channel.title;
  const search = await resultOf((options) => source.search(title, HITS_IN_INDEX, options));
  await source.close();

  const names = new Set([...KNOWN_NAMES, ...keep]);
  const recordedAt = new Date(systemClock.now()).toISOString().slice(0, 10);
  const files = [...calls.values()].map(({ name, request, status }) => {
    const hits = search instanceof AppError ? errorOf(search) : hitsOf(search);
    const values = name === 'search' ? hits : found instanceof AppError ? errorOf(found) : valuesIn(name, results);
    return { file: `${name}.json`, request, status, recordedAt, expected: redact(values, () => true) };
  });
  const about =
    'Recorded with scripts/record-youtube.ts, without members of unknown names, tokens, addresses and keys.';
  await mkdir(directory);
  const contents: [string, unknown][] = [...calls.values()].map(({ name, body }) => [
    name,
    redact(body, (member) => names.has(member)),
  ]);
  for (const [name, content] of [...contents, ['index', { about, files }]]) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(content, null, 2)}\n`);
  }
  const notFound = [...results].filter(([, { state }]) => state !== 'found').map(([field]) => field);
  const leftOut = findLeftOut(calls, notFound, keep).filter((name) => !names.has(name) && !UNREAD_NAMES.includes(name));
  return [
    `Written: ${[...files.map(({ file }) => file), 'index.json'].join(', ')}`,
    ...[found, search].flatMap((failure) => (failure instanceof AppError ? describeFailure(failure) : [])),
    ...(notFound.length === 0 ? [] : [`Not found: ${notFound.join(', ')}`]),
    ...(leftOut.length === 0 ? [] : [`Left out on the way to them: ${leftOut.slice(0, SHOWN_NAMES).join(', ')}`]),
  ];
}

/** Calls `onCall` with every response that is JSON. Asks for whole pages: a moved field may be outside of the field mask. */
function recordCalls(http: HttpClient, onCall: (call: RecordedCall) => void): HttpClient {
  return {
    async request(request) {
      const response = await http.request({ ...request, url: request.url.replace(/\$fields=[^&]*&/, '') });
      const body = parseJsonObject(response.body);
      const { context: _, ...parameters } = JSON.parse(request.body ?? '{}') as JsonObject;
      const { pathname } = new URL(request.url);
      const url = `https://www.youtube.com${pathname}`;
      const call = { request: { method: request.method, url, body: parameters }, status: response.status };
      if (body !== undefined) onCall({ ...call, name: nameOf(pathname, parameters), body });
      return response;
    },
    close: () => http.close(),
  };
}

function nameOf(pathname: string, { continuation, params }: JsonObject): RecordedCall['name'] {
  if (!pathname.endsWith('/browse')) return pathname.endsWith('/search') ? 'search' : 'resolve';
  if (continuation !== undefined) return 'about';
  return params === undefined ? 'page' : 'about-tab';
}

function errorOf({ code }: AppError) {
  return { error: code === 'channel_not_found' ? 'not_found' : 'could_not_tell' };
}

/** The values of the record that the response has, or would have in the newest layout. */
function valuesIn(response: RecordedCall['name'], results: ReadonlyMap<keyof Channel, FieldResult>) {
  const values = [...results].flatMap(([field, result]) => {
    const [part] = ('path' in result ? result.path : (CHANNEL_LAYOUTS[field][0] ?? '')).split('.');
    const value = 'value' in result ? result.value : null;
    if (field !== 'channelId' && part !== response) return [];
    const isImage = field === 'banner' || field === 'avatar';
    return isImage ? [[`${field}Base`, (value as Channel['banner'])?.key ?? null]] : [[field, value]];
  });
  return Object.fromEntries(values) as JsonObject;
}

function hitsOf(hits: readonly SearchHit[]) {
  return { count: hits.length, firstFive: hits.slice(0, HITS_IN_INDEX).map(({ banner: _, ...hit }) => hit) };
}

const SHOWN_NAMES = 20;

/** The names at the ends of the newest paths of the fields, and below the kept names. A renamed part is among them. */
function findLeftOut(
  calls: ReadonlyMap<string, RecordedCall>,
  fields: readonly (keyof Channel)[],
  keep: readonly string[],
): string[] {
  const responses = Object.fromEntries([...calls].map(([name, { body }]) => [name, body]));
  const ends = fields.map((field) => {
    const steps = CHANNEL_LAYOUTS[field][0]?.split('.') ?? [];
    const beginnings = steps.map((_, index) => valuesAt(responses, steps.slice(0, index + 1).join('.')));
    return beginnings.findLast((values) => values.some(isJsonObject)) ?? [];
  });
  const below = keep.flatMap((name) => valuesNamed(responses, name)).flat();
  return [...new Set([...ends.flat(), ...below].filter(isJsonObject).flatMap(Object.keys))];
}

/** Names of members that may contain secrets. */
const SECRET_NAME = /token|tracking|visitor|cookie|apikey|session|serialized|params|remotehost/i;
/** Replaces the About token of a page, so that a recording shows its position. */
const TOKEN = 'recorded-token';

/** Upstream nests 40 levels at most. */
const MAX_DEPTH = 100;
const MAX_TEXT_CHARACTERS = 20_000;

/** @param isKept says which members to keep, by their names */
function redact(value: unknown, isKept: (name: string) => boolean, depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') return redactText(value);
  // Empty elements are dropped: a page has hundreds of videos.
  if (Array.isArray(value)) return value.map((element) => redact(element, isKept, depth + 1)).filter(isNotEmpty);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => isKept(name));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, name === 'token' ? TOKEN : redact(member, isKept, depth + 1)]),
  );
}

function isNotEmpty(element: unknown): boolean {
  return !isJsonObject(element) || Object.keys(element).length > 0;
}

/** The path of a channel page. Names may be long and escaped. */
const CHANNEL_PATH = /^\/(?:@|channel\/|user\/|c\/)[^/?#]{1,300}$/;

function redactText(text: string): string {
  if (text.length > MAX_TEXT_CHARACTERS) return '';
  if (CHANNEL_PATH.test(text)) return text;
  const url = text.startsWith('//') ? URL.parse(`https:${text}`) : URL.parse(text);
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  return isWeb ? redactUrl(url) : withoutSecrets(text);
}

/** Removes the query. Keeps only the target of a redirector URL. The names of images look like tokens. */
function redactUrl(url: URL): string {
  const { origin, hostname, pathname, searchParams } = url;
  const isYoutube = /(?:^|\.)youtube\.com$/.test(hostname);
  if (isImageUrl(url) || (isYoutube && CHANNEL_PATH.test(pathname))) return `${origin}${pathname}`;
  const target = isYoutube && pathname === '/redirect' ? URL.parse(searchParams.get('q') ?? '') : null;
  const query = target === null ? '' : `?q=${encodeURIComponent(redactUrl(target))}`;
  return `${withoutSecrets(`${origin}${pathname}`)}${query}`;
}

/** Long strings without blanks: tokens, visitor data, cookies, signatures, keys. */
const OPAQUE = /[\w%+=~-]{30,}/g;
const QUERY = /[?#][\w%&=+.~/-]{8,}/g;
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,200}/g;
const ADDRESS = /[\da-f:.]{7,45}/gi;

function withoutSecrets(text: string): string {
  return text
    .replace(EMAIL, 'someone@example.com')
    .replace(ADDRESS, (found) => (isIP(found.replace(/[.:]$/, '')) === 0 ? found : '192.0.2.1'))
    .replace(QUERY, '')
    .replace(OPAQUE, '(left out)');
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { keep: { type: 'string', multiple: true } },
  });
  const [channel, directory] = positionals;
  if (channel === undefined || directory === undefined) {
    throw new Error('Usage: node scripts/record-youtube.ts @handle|ID DIRECTORY [--keep NAME]…');
  }
  const lines = await recordChannel(channel, { directory, keep: values.keep ?? [] });
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}
