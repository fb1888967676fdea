import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderFields } from '../src/cli/doctor.ts';
import { parseConfig } from '../src/config/settings.ts';
import { type Channel, isImageUrl } from '../src/domain/channel.ts';
import { AppError, valueOrError } from '../src/domain/errors.ts';
import { identifiersOfName } from '../src/domain/pasted.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createHttpClient, type HttpClient } from '../src/lib/http/http-client.ts';
import { isJsonObject, type JsonObject, parseJsonObject } from '../src/lib/json.ts';
import { describeFailure } from '../src/lib/logger.ts';
import { printable } from '../src/lib/printable.ts';
import { valuesNamed, walk } from '../src/sources/json.ts';
import { openYoutube } from '../src/sources/registry.ts';
import { type FieldResult, loadFirst } from '../src/sources/source.ts';
import { layoutOf, OBJECT_NAMES, type ObjectLayout } from '../src/sources/youtube/objects.ts';

/*
 * Records what YouTube sends for a channel, for a public repository. A recording has the objects that the service reads, in the part
 * of the response that had them, with their known members. It has no text that could be a token, an address or a key.
 */

/** Objects that are read besides those of `objects.ts`: alerts, redirects, results of a search. */
const OTHER_OBJECTS = (
  'alertRenderer alertWithButtonRenderer alertViewModel navigateAction channelRenderer lockupViewModel messageRenderer ' +
  'backgroundPromoRenderer'
).split(' ');
/** Parts of a response that are read as they are: targets of names, errors. */
const WHOLE_PARTS = ['endpoint', 'error'];

/** Names of members in them, in texts and in links. */
const OTHER_NAMES = (
  'simpleText content runs text type code status channelExternalLinkViewModel title link commandRuns onTap innertubeCommand ' +
  'navigationEndpoint urlEndpoint url endpoint browseEndpoint browseId canonicalBaseUrl channelId descriptionSnippet thumbnail ' +
  'contentType contentId contentImage thumbnailViewModel lockupMetadataViewModel rendererContext commandContext bodyText'
).split(' ');

const LAYOUTS = OBJECT_NAMES.map(layoutOf);
const KNOWN_OBJECTS = [...LAYOUTS.flatMap(({ names }) => names), ...OTHER_OBJECTS];
const CONTENT_OBJECTS = LAYOUTS.filter(({ isContent }) => isContent).flatMap(({ names }) => names);
const KNOWN_NAMES = [...LAYOUTS.flatMap(pathsOf).flatMap((path) => path.split('.')), ...OTHER_NAMES];

function pathsOf({ members, texts }: ObjectLayout): string[] {
  return [...Object.values(members).flat(), ...(texts === undefined ? [] : [texts])];
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

/** The time for one load. */
const LOAD_MS = 20_000;

/**
 * Loads a channel and searches for it. Writes the last response of each kind into the directory, in the form of
 * `test/fixtures/youtube`, with the values that were read for the whole record.
 *
 * @param directory does not exist yet
 * @param keep names of objects and members besides the known ones
 * @returns what to tell the reader
 */
export async function recordChannel(channel: string, directory: string, keep: readonly string[], env = process.env) {
  const secret = keep.find((name) => SECRET_NAME.test(name));
  if (secret !== undefined) throw new Error(`"${secret}" may hold a secret and is never kept.`);
  const calls = new Map<RecordedCall['name'], RecordedCall>();
  const results = new Map<keyof Channel, FieldResult>();
  const config = parseConfig(env);
  const client = createHttpClient({ userAgent: 'Pennant', proxyEnv: config.proxyEnv });
  const http = recordCalls(client, (call) => calls.set(call.name, call));
  const source = openYoutube(config, http, (field, result) => results.set(field, result));
  const inTime = () => ({ signal: AbortSignal.timeout(LOAD_MS) });
  const found = await valueOrError(loadFirst(source, identifiersOfName(channel), inTime()));
  const title = found instanceof AppError ? channel : found.loaded.channel.title;
  const search = await valueOrError(source.search(title, inTime()));
  await http.close();

  const recordedAt = new Date(systemClock.now()).toISOString().slice(0, 10);
  const record = found instanceof AppError ? errorOf(found) : valuesIn(results);
  const hits = search instanceof AppError ? errorOf(search) : { count: search.length, firstFive: search.slice(0, 5) };
  const named = 'channelId' in record ? { channelId: record.channelId } : record;
  const files = [...calls.values()].map(({ name, request, status }) => {
    const expected = redacted({ page: record, search: hits }[String(name)] ?? named);
    return { file: `${name}.json`, request, status, recordedAt, expected };
  });
  const about = 'Recorded with scripts/record-youtube.ts, without unknown members, tokens, addresses and keys.';
  await mkdir(directory);
  const write = (name: string, content: unknown) =>
    writeFile(join(directory, `${name}.json`), `${JSON.stringify(content, null, 2)}\n`);
  for (const call of calls.values()) await write(call.name, pruned(call, keep));
  await write('index', { about, files });
  const bodies = [...calls.values()].map(({ body }) => body);
  const leftOut = findLeftOut(bodies, keep);
  return [
    ...renderFields(results).trimEnd().split('\n'),
    `Written: ${[...files.map(({ file }) => file), 'index.json'].join(', ')}`,
    ...[found, search].flatMap((failure) => (failure instanceof AppError ? describeFailure(failure) : [])),
    ...(leftOut.length === 0 ? [] : [`Left out because their names are unknown: ${leftOut.join(', ')}`]),
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

const SHOWN_NAMES = 20;

/**
 * Unknown members of the objects that are read and of what was kept. If the newest object of a part is not there, the names of
 * objects that have half of its members.
 */
function findLeftOut(bodies: readonly JsonObject[], keep: readonly string[]): string[] {
  const membersOf = (name: string) => valuesNamed(bodies, name).flat().filter(isJsonObject).flatMap(Object.keys);
  const names = LAYOUTS.flatMap((layout) => {
    const members = layout.names.flatMap(membersOf);
    const isNewest = LAYOUTS.find(({ part }) => part === layout.part) === layout;
    return members.length === 0 && isNewest ? findSimilar(bodies, layout) : members;
  });
  const known = new Set([...KNOWN_OBJECTS, ...KNOWN_NAMES, ...UNREAD_NAMES, ...keep]);
  return [...new Set([...names, ...keep.flatMap(membersOf)])].filter((name) => !known.has(name)).slice(0, SHOWN_NAMES);
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
const MAX_TEXT_CHARACTERS = 20_000;

/** The known objects of a response, with their known members, in their parts. */
function pruned({ name: response, body }: RecordedCall, keep: readonly string[]): unknown {
  const names = new Set([...KNOWN_NAMES, ...keep]);
  const parts = Object.entries(body).flatMap(([part, content]) => {
    if (WHOLE_PARTS.includes(part)) return [[part, redacted(content, names)]];
    // The other objects there are those of other channels.
    const isOfOthers = part === 'contents' && response !== 'search';
    const wanted = [...(isOfOthers ? CONTENT_OBJECTS : KNOWN_OBJECTS), ...keep];
    const found: unknown[] = [];
    walk({ [part]: content }, (value, name = '') => {
      if (!wanted.includes(name)) return true;
      found.push({ [name]: redacted(value, names) });
      return false;
    });
    // A search without results is an empty list.
    return found.length > 0 || part === 'contents' ? [[part, found]] : [];
  });
  return Object.fromEntries(parts);
}

/** The value with members of these names only (default: of any), and without secrets in its texts. */
function redacted(value: unknown, names?: ReadonlySet<string>): unknown {
  const redact = (name: string, member: unknown) => {
    // The value itself has no name, and an element of a list has a number.
    if (names !== undefined && !names.has(name) && !/^\d*$/.test(name)) return undefined;
    return typeof member === 'string' ? redactText(member) : member;
  };
  return JSON.parse(JSON.stringify(value, redact));
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
  const lines = await recordChannel(channel, directory, values.keep ?? []);
  process.stdout.write(lines.map((line) => `${printable(line)}\n`).join(''));
}
