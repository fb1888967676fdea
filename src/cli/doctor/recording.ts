import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { hasErrorCode } from '../../lib/file-system.ts';
import { isJsonObject, type JsonObject, parseJsonObject, valuesNamed } from '../../sources/json.ts';
import { buildAboutToken } from '../../sources/youtube/about.ts';
import { readFeed } from '../../sources/youtube/feed.ts';
import { YOUTUBE_WEB } from '../../sources/youtube/innertube.ts';
import { KNOWN_NAMES, UNREAD_NAMES } from '../../sources/youtube/layouts.ts';
import { readPage, readPanel } from '../../sources/youtube/readings.ts';
import { buildRecord, readAboutFields } from '../../sources/youtube/record.ts';
import { readSearchPage, SEARCH_NAMES } from '../../sources/youtube/search-page.ts';
import { UsageError } from '../command.ts';
import type { Diagnosis } from './diagnose.ts';
import type { RecordedCall } from './recorded-calls.ts';

/** Names of members that may contain secrets. */
const SECRET_NAME = /token|tracking|visitor|cookie|apikey|session|serialized|params|remotehost/i;
const NAME = /^[A-Za-z][A-Za-z0-9]{0,80}$/;

/** @throws UsageError for an invalid member name, or one that may hold a secret */
export function requireNames(names: readonly string[]): void {
  for (const name of names) {
    if (!NAME.test(name)) throw new UsageError(`"${name}" is not a member name.`);
    if (SECRET_NAME.test(name)) throw new UsageError(`"${name}" may hold a secret and is never kept.`);
  }
}

/** @throws UsageError if the directory exists and is not empty */
export async function requireNewDirectory(directory: string): Promise<void> {
  try {
    if ((await readdir(directory)).length === 0) return;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return;
    if (!hasErrorCode(error, 'ENOTDIR')) throw error;
  }
  throw new UsageError(`${directory} already exists and is not empty.`);
}

/**
 * Writes the responses of a diagnosis of the source `youtube`: every kind of response once, reduced to known names, with
 * the values that are read from it.
 *
 * @param moreNames names to keep besides the known ones
 * @returns the names of the files, empty if there was no response to write; and the names of members that were left out
 *   below the members in `moreNames`
 */
export async function saveRecording(directory: string, diagnosis: Diagnosis, moreNames: readonly string[]) {
  const names = new Set([...KNOWN_NAMES, ...moreNames]);
  const responses = responsesOf(diagnosis, names);
  if (responses.length === 0) return { files: [], leftOut: [] };
  const day = new Date(systemClock.now()).toISOString().slice(0, 10);
  const index = {
    about: `Recorded with "pennant doctor" on ${day}. Members with unknown names are left out; possible tokens, addresses and keys are replaced.`,
    files: responses.map(({ content: _, ...entry }) => ({ ...entry, recordedAt: day })),
  };
  await mkdir(directory, { recursive: true });
  const files = [...responses, { file: 'index.json', content: `${JSON.stringify(index, null, 2)}\n` }];
  // Never overwrites a file that was created in the meantime.
  for (const { file, content } of files) await writeFile(join(directory, file), content, { flag: 'wx' });
  return { files: files.map(({ file }) => file), leftOut: findLeftOut(diagnosis.calls, moreNames, names) };
}

const SHOWN_NAMES = 20;

/** Candidates for the next `--keep`: a moved part is often some levels deep. */
function findLeftOut(calls: readonly RecordedCall[], moreNames: readonly string[], names: ReadonlySet<string>) {
  const bodies = calls.map(({ body }) => (body === null ? undefined : parseJsonObject(body)));
  const kept = bodies.flatMap((body) => moreNames.flatMap((name) => valuesNamed(body, name))).flat();
  const below = kept.filter(isJsonObject).flatMap(Object.keys);
  return [...new Set(below)].filter((name) => !names.has(name) && !UNREAD_NAMES.has(name)).slice(0, SHOWN_NAMES);
}

/** The responses in the form of `test/fixtures/youtube`: each is a file, and its entry in `index.json`. */
function responsesOf(diagnosis: Diagnosis, names: ReadonlySet<string>) {
  const { asked, calls, channelId, failure } = diagnosis;
  const requestedId = channelId ?? asked;
  const error = { error: failure?.code === 'channel_not_found' ? 'not_found' : 'could_not_tell' };
  const searchNames = new Set([...names, ...SEARCH_NAMES]);
  const found = (name: string) =>
    calls
      .filter((call) => call.name === name)
      .flatMap((call) => readCall(call, name === 'search' ? searchNames : names));
  // The page with a field mask comes before the whole page, and the panel of the built token before that of the page.
  const lastOf = (name: string) => found(name).slice(-1);
  return [
    ...found('resolve').map((each, index) => {
      const file = index === 0 ? 'resolve.json' : `resolve-${index + 1}.json`;
      return responseOf(file, each, channelId === null ? error : { channelId });
    }),
    ...lastOf('page').map((each) => responseOf('page.json', each, pageValues(each.body, requestedId) ?? error)),
    ...lastOf('about tab').map((each) =>
      responseOf('about-tab.json', each, pageValues(each.body, requestedId) ?? error),
    ),
    ...lastOf('about').map(({ call, body }) => {
      // Any token of this form leads to the panel; the one that was sent has a random part.
      const parameters = { continuation: buildAboutToken(requestedId, ANY_PANEL) };
      // The values in the panel alone, for a page in English.
      const expected = { channelId: requestedId, ...readAboutFields(readPanel(body).fields) };
      return responseOf('about.json', { call: { ...call, parameters }, body }, expected);
    }),
    ...lastOf('search').map((each) => responseOf('search.json', each, searchValues(each.body))),
    ...calls.filter(({ name, status }) => name === 'feed' && status === 200).flatMap(feedOf),
  ];
}

/** The call with its redacted body. Empty for an HTML page, which may contain the client's address. */
function readCall(call: RecordedCall, names: ReadonlySet<string>) {
  const body = call.body === null ? undefined : parseJsonObject(call.body);
  return body === undefined ? [] : [{ call, body: redact(body, names) as JsonObject }];
}

const ANY_PANEL = '00000000-0000-4000-8000-000000000001';

function responseOf(file: string, { call, body }: ReturnType<typeof readCall>[number], expected: object) {
  const { method, parameters, status } = call;
  const url = `${YOUTUBE_WEB}${new URL(call.url).pathname}`;
  return {
    file,
    content: `${JSON.stringify(body, null, 2)}\n`,
    request: { method, url, ...(parameters !== undefined && { body: parameters }) },
    status: status ?? 0,
    expected,
  };
}

/** The channel's part of its feed, without videos. */
function feedOf({ url, body }: RecordedCall) {
  const { channelId, publishedAt } = readFeed(body?.toString('utf8') ?? '') ?? {};
  if (channelId === undefined || publishedAt === undefined) return [];
  const page = `${YOUTUBE_WEB}/channel/${channelId}`;
  const { pathname, search } = new URL(url);
  return [
    {
      file: 'feed.xml',
      content: [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        ` <link rel="alternate" href="${page}"/>`,
        ` <published>${publishedAt}</published>`,
        '</feed>\n',
      ].join('\n'),
      request: { method: 'GET', url: `${YOUTUBE_WEB}${pathname}${search}` },
      status: 200,
      expected: { channelId, publishedAt },
    },
  ];
}

/** The values in the page alone; `undefined` if it shows no channel. */
function pageValues(body: JsonObject, requestedId: string): object | undefined {
  const page = readPage(body);
  const channel = buildRecord(requestedId, page)?.channel;
  if (channel === undefined) return undefined;
  const { channelId, title, description, customUrl, subscriberCount, videoCount, banner, avatar } = channel;
  const texts = { channelId, title, description, customUrl, subscriberCount, videoCount };
  return { ...texts, bannerBase: banner?.key ?? null, avatarBase: avatar?.key ?? null };
}

const HITS_IN_INDEX = 5;

function searchValues(body: JsonObject): object {
  const { hits } = readSearchPage(body);
  const firstFive = hits
    .slice(0, HITS_IN_INDEX)
    .map(({ channelId, title, description, customUrl, subscriberCount, videoCount, avatar }) => {
      return { channelId, title, description, customUrl, subscriberCount, videoCount, avatar };
    });
  return { count: hits.length, firstFive };
}

/*
 * Recordings are made for a public repository. They contain only members with known names, and no text that could be a
 * token, an address or a key.
 */

/** Replaces the About token of a page, so that a recording shows its position. */
const TOKEN_NAME = 'token';
const TOKEN = 'recorded-token';

/** Upstream nests 40 levels at most. */
const MAX_DEPTH = 100;
const MAX_TEXT_CHARACTERS = 20_000;

/** @param names names of members to keep; members with other names are left out */
function redact(value: unknown, names: ReadonlySet<string>, depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') return redactText(value);
  // Empty elements are dropped: a page has hundreds of videos.
  if (Array.isArray(value)) return value.map((element) => redact(element, names, depth + 1)).filter(isNotEmpty);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => names.has(name));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, name === TOKEN_NAME ? TOKEN : redact(member, names, depth + 1)]),
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

/** Hosts of channel images, whose names look like tokens. */
const IMAGE_HOST = /^(?:yt3\.ggpht\.com|(?:yt3|lh3)\.googleusercontent\.com)$/;

/** Removes the query. Keeps only the target of a redirector URL. */
function redactUrl(url: URL): string {
  const { origin, hostname, pathname, searchParams } = url;
  const isYoutube = /(?:^|\.)youtube\.com$/.test(hostname);
  if (IMAGE_HOST.test(hostname) || (isYoutube && CHANNEL_PATH.test(pathname))) return `${origin}${pathname}`;
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
