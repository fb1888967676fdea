import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded or handwritten response with its request. */
export interface ReplayResponse {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly body?: Readonly<Record<string, unknown>>;
  };
  readonly status: number;
  readonly text: string;
}

export interface IndexedResponse extends ReplayResponse {
  readonly file: string;
  readonly expected: unknown;
}

const readDirectories = new Map<string, readonly IndexedResponse[]>();

/** The responses of a directory whose `index.json` lists its files with their requests and expected values. Read once. */
export function readResponses(directory: string): readonly IndexedResponse[] {
  const responses = readDirectories.get(directory) ?? readFiles(directory);
  readDirectories.set(directory, responses);
  return responses;
}

function readFiles(directory: string): readonly IndexedResponse[] {
  const index = JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8')) as {
    files: Omit<IndexedResponse, 'text'>[];
  };
  return index.files.map((entry) => ({ ...entry, text: readFileSync(join(directory, entry.file), 'utf8') }));
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
export const OWN_RESPONSES = join(FIXTURES, 'youtube');
/** What `scripts/record-youtube.ts` has written into `test/fixtures/youtube-…`. */
export const OWN_RECORDINGS: readonly string[] = readdirSync(FIXTURES)
  .filter((name) => name.startsWith('youtube-'))
  .map((name) => join(FIXTURES, name));

/**
 * Folders of responses that were recorded from YouTube, separated by colons in `YOUTUBE_RECORDINGS`. Each folder's index has the
 * expected results.
 */
export const RECORDING_DIRECTORIES: readonly string[] = (process.env.YOUTUBE_RECORDINGS ?? '')
  .split(':')
  .filter((directory) => directory !== '');

/** The JSON of the project's own response to a request with this value. */
export function ownResponse(parameter: 'browseId' | 'query', value: string): object {
  const response = readResponses(OWN_RESPONSES).find(({ request }) => request.body?.[parameter] === value);
  if (response === undefined) throw new Error(`no response to ${parameter} ${value}`);
  return JSON.parse(response.text) as object;
}

/** Pages and About panels of channels with these IDs, which are otherwise the same as the project's own channel. */
export function channelsLike(channelId: string, ids: readonly string[]): ReplayResponse[] {
  const page = JSON.stringify(ownResponse('browseId', channelId));
  const panel = readResponses(OWN_RESPONSES).find(({ text }) => panelChannelId(text) === channelId)?.text ?? '{}';
  return ids.flatMap((id) => [
    jsonResponse('browse', { browseId: id }, JSON.parse(page.replaceAll(channelId, id))),
    jsonResponse('browse', { continuation: id }, JSON.parse(panel.replaceAll(channelId, id))),
  ]);
}

/** A JSON response made in a test. */
export function jsonResponse(path: string, body: Record<string, unknown>, response: unknown): ReplayResponse {
  const url = `https://www.youtube.com/youtubei/v1/${path}`;
  return { request: { method: 'POST', url, body }, status: 200, text: JSON.stringify(response) };
}

/** A page path without differences in letter case and escapes, because handles are case-insensitive. */
export function comparablePage(url: string): string {
  return decodeURIComponent(new URL(url).pathname).normalize('NFC').toLowerCase();
}

/** The channel of an About token, which contains the ID as plain bytes. */
export function channelIdOfToken(token: string): string | undefined {
  const bytes = Buffer.from(decodeURIComponent(token), 'base64url').toString('latin1');
  return /UC[A-Za-z0-9_-]{22}/.exec(bytes)?.[0];
}

/** The channel of a response with an About panel. */
export function panelChannelId(text: string): string | undefined {
  return /"about\w{0,20}ViewModel"/.test(text) ? /"channelId":\s*"(UC[^"]{22})"/.exec(text)?.[1] : undefined;
}
