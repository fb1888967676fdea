import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderFields } from '../src/cli/doctor.ts';
import { parseConfig } from '../src/config/settings.ts';
import { type Channel, isImageUrl, type SearchHit } from '../src/domain/channel.ts';
import { AppError, valueOrError } from '../src/domain/errors.ts';
import { channelRefsOfName } from '../src/domain/pasted.ts';
import { systemClock } from '../src/lib/clock.ts';
import type { HttpClient } from '../src/lib/http/http-client.ts';
import { isJsonObject, type JsonObject, parseJsonObject } from '../src/lib/json.ts';
import { describeFailure } from '../src/lib/logger.ts';
import { printable } from '../src/lib/printable.ts';
import { valuesNamed, walk } from '../src/sources/json.ts';
import { openYoutube } from '../src/sources/registry.ts';
import { type FieldResult, loadFirst } from '../src/sources/source.ts';
import { layoutOf, OBJECT_NAMES, type ObjectLayout } from '../src/sources/youtube/objects.ts';

/*
 * Records what YouTube sends for a channel, for a public repository. A recording has the objects that the service reads, with their
 * known members, where they were. It has no text that could be a token, an address or a key.
 */

/** Objects that are read besides those of `objects.ts`: alerts, redirects, tokens, targets of names, errors, results of a search. */
const OTHER_OBJECTS = (
  'alertRenderer alertWithButtonRenderer alertViewModel navigateAction continuationCommand endpoint error ' +
  'sectionListRenderer channelRenderer lockupViewModel messageRenderer backgroundPromoRenderer'
).split(' ');

/** Names of members in them, in texts and in links. */
const OTHER_NAMES = (
  'simpleText content runs text type code status token estimatedResults channelExternalLinkViewModel title link commandRuns onTap ' +
  'innertubeCommand navigationEndpoint urlEndpoint url endpoint browseEndpoint browseId canonicalBaseUrl channelId ' +
  'descriptionSnippet thumbnail contentType contentId contentImage thumbnailViewModel lockupMetadataViewModel ' +
  'rendererContext commandContext bodyText contents'
).split(' ');

const LAYOUTS = OBJECT_NAMES.map(layoutOf);
const KNOWN_OBJECTS = [...LAYOUTS.flatMap(({ names }) => names), ...OTHER_OBJECTS];
const CONTENT_OBJECTS = LAYOUTS.filter(({ isContent }) => isContent).flatMap(({ names }) => names);
const KNOWN_NAMES = [...LAYOUTS.flatMap(pathsOf).flatMap((path) => path.split('.')), ...OTHER_NAMES];

function pathsOf({ members, texts = '' }: ObjectLayout): string[] {
  return [...Object.values(members).flat(), texts];
}

/** Other members of objects in recordings of 2021 to 2026-08. They are never read and are no sign of a change. */
const UNREAD_NAMES = (
  'trackingParams clickTrackingParams targetId width height style channelUrl ownerUrls rssUrl keywords isFamilySafe ' +
  'availableCountryCodes musicArtistName androidDeepLink androidAppindexingLink iosAppindexingLink facebookProfileId tabPath ' +
  'doubleclickTrackingUsername channelConversionUrl actions attribution artistBio artistBioLabel descriptionLabel ' +
  'customLinksLabel additionalInfoLabel customUrlOnTap signInForBusinessEmail displayCanonicalChannelUrl ' +
  'descriptionPreviewViewModel'
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

  const recordedAt = new Date(systemClock.now()).toISOString().slice(0, 10);
  const record = found instanceof AppError ? errorOf(found) : valuesIn(results);
  const hits = search instanceof AppError ? errorOf(search) : hitsOf(search);
  const named = 'channelId' in record ? { channelId: record.channelId } : record;
  const files = [...calls.values()].map(({ name, request, status }) => {
    const expected = { page: record, search: hits }[String(name)] ?? named;
    return {
      file: `${name}.json`,
      request,
      status,
      recordedAt,
      expected: JSON.parse(JSON.stringify(expected), redact),
    };
  });
  const about =
    'Recorded with scripts/record-youtube.ts, without unknown objects and members, tokens, addresses and keys.';
  await mkdir(directory);
  const contents: [string, unknown][] = [...calls.values()].map((call) => [call.name, pruned(call, keep)]);
  for (const [name, content] of [...contents, ['index', { about, files }]]) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(content, null, 2)}\n`);
  }
  const leftOut = findLeftOut([...calls.values()], results, keep);
  return [
    ...renderFields(results).trimEnd().split('\n'),
    `Written: ${[...files.map(({ file }) => file), 'index.json'].join(', ')}`,
    ...[found, search].flatMap((failure) => (failure instanceof AppError ? describeFailure(failure) : [])),
    ...(leftOut.length === 0 ? [] : [`Left out where missing fields may be now: ${leftOut.join(', ')}`]),
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

function valuesIn(results: ReadonlyMap<keyof Channel, FieldResult>) {
  const values = [...results].map(([field, result]) => [field, 'value' in result ? result.value : null] as const);
  const { banner, avatar, ...texts } = Object.fromEntries(values) as unknown as Channel;
  return { ...texts, bannerBase: banner?.key ?? null, avatarBase: avatar?.key ?? null };
}

function hitsOf(hits: readonly SearchHit[]) {
  return { count: hits.length, firstFive: hits.slice(0, HITS_IN_INDEX).map(({ banner: _, ...hit }) => hit) };
}

const SHOWN_NAMES = 20;

/**
 * Unknown names where fields without a value may be now: members of the object that has them, or of what was kept, and objects
 * with half of the members of an object that is not there.
 */
function findLeftOut(
  calls: readonly RecordedCall[],
  results: ReadonlyMap<keyof Channel, FieldResult>,
  keep: readonly string[],
): string[] {
  const bodies = calls.map(({ body }) => body);
  const fields = [...results].filter(([, { state }]) => state !== 'found').map(([field]) => field);
  const names = new Set(keep.flatMap((name) => namesBelow(bodies, name)));
  for (const layout of LAYOUTS.filter((each) =>
    fields.some((field) => each === LAYOUTS.find(({ members }) => members[field])),
  )) {
    const members = layout.names.flatMap((name) => namesBelow(bodies, name));
    for (const name of members.length > 0 ? members : findSimilar(bodies, layout)) names.add(name);
  }
  for (const known of [...KNOWN_OBJECTS, ...KNOWN_NAMES, ...UNREAD_NAMES, ...keep]) names.delete(known);
  return [...names].slice(0, SHOWN_NAMES);
}

function namesBelow(bodies: readonly JsonObject[], name: string): string[] {
  return valuesNamed(bodies, name).flat().filter(isJsonObject).flatMap(Object.keys);
}

function findSimilar(bodies: readonly JsonObject[], layout: ObjectLayout): string[] {
  const members = pathsOf(layout).map((path) => path.split('.', 1)[0] ?? '');
  const similar: string[] = [];
  walk(bodies, (value, name) => {
    const shared = members.filter((member) => Object.hasOwn(value, member));
    if (name !== undefined && shared.length * 2 >= members.length) similar.push(name);
    return true;
  });
  return similar;
}

/** Names of members that may contain secrets. */
const SECRET_NAME = /token|tracking|visitor|cookie|apikey|session|serialized|params|remotehost/i;
/** Replaces the About token of a page, so that a recording shows its position. */
const TOKEN = 'recorded-token';

/** Names of objects and lists around what is kept. Others may be keys of a map. */
const CONTAINER_NAME = /^[a-z]{1,80}$/i;
/** Upstream nests 40 levels at most. */
const MAX_DEPTH = 100;
const MAX_TEXT_CHARACTERS = 20_000;

/** The response with its known objects and their known members only. */
function pruned(response: RecordedCall, keep: readonly string[]): unknown {
  const names = new Set([...KNOWN_NAMES, ...keep]);
  const allObjects = new Set([...KNOWN_OBJECTS, ...keep]);
  // The other objects there are those of other channels.
  const objectsOfContents = new Set(response.name === 'search' ? allObjects : [...CONTENT_OBJECTS, ...keep]);

  /** @param isKnown whether the value is that of a known object or member */
  function prune(value: unknown, objects: ReadonlySet<string>, isKnown: boolean, depth = 0): unknown {
    if (depth > MAX_DEPTH) return undefined;
    if (Array.isArray(value)) {
      const elements = value.map((element) => prune(element, objects, isKnown, depth + 1));
      return isKnown || elements.some(isNotEmpty) ? elements.filter(isNotEmpty) : undefined;
    }
    if (!isJsonObject(value)) return isKnown ? redact('', value) : undefined;
    const members = Object.entries(value).flatMap(([name, member]) => {
      const inner = depth === 0 && name === 'contents' ? objectsOfContents : objects;
      const isKnownName = inner.has(name) || (isKnown && names.has(name));
      const kept = isKnownName || CONTAINER_NAME.test(name) ? prune(member, inner, isKnownName, depth + 1) : undefined;
      return kept === undefined ? [] : [[name, isKnownName && name === 'token' ? TOKEN : kept]];
    });
    return members.length > 0 || isKnown ? Object.fromEntries(members) : undefined;
  }

  return prune(response.body, allObjects, true);
}

/** A page has hundreds of videos. */
function isNotEmpty(element: unknown): boolean {
  return element !== undefined && !(isJsonObject(element) && Object.keys(element).length === 0);
}

/** For `JSON.parse`. */
function redact(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? redactText(value) : value;
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
