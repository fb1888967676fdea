import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One recorded or handwritten answer with its request. */
export interface ReplayAnswer {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly body?: Readonly<Record<string, unknown>>;
  };
  readonly status: number;
  readonly text: string;
}

export interface IndexedAnswer extends ReplayAnswer {
  readonly file: string;
  readonly expected: unknown;
}

/** The answers of a directory whose `index.json` lists its files with their requests and expected values. */
export function readAnswers(directory: string): IndexedAnswer[] {
  const index = JSON.parse(readFileSync(join(directory, 'index.json'), 'utf8')) as {
    files: Omit<IndexedAnswer, 'text'>[];
  };
  return index.files.map((entry) => ({ ...entry, text: readFileSync(join(directory, entry.file), 'utf8') }));
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
export const OWN_ANSWERS = join(FIXTURES, 'youtube');

/**
 * Responses that were recorded from YouTube may be in folders beside the project. A fresh clone has none, and the tests
 * that need them are skipped. Each directory's index has the expected results.
 */
export const RECORDING_DIRECTORIES: readonly string[] = ['youtube-recordings', 'youtube-recordings-2']
  .map((name) => join(FIXTURES, '../../../shared', name))
  .filter((directory) => existsSync(directory));
if (RECORDING_DIRECTORIES.length < 2) console.log('SKIPPED: not all YouTube recordings are beside this project.');

/** The JSON of the project's own answer to a request with this value. */
export function ownAnswer(parameter: 'browseId' | 'query', value: string): object {
  const answer = readAnswers(OWN_ANSWERS).find(({ request }) => request.body?.[parameter] === value);
  if (answer === undefined) throw new Error(`no answer to ${parameter} ${value}`);
  return JSON.parse(answer.text) as object;
}

/** A JSON answer made in a test. */
export function jsonAnswer(path: string, body: Record<string, unknown>, answer: unknown): ReplayAnswer {
  const url = `https://www.youtube.com/youtubei/v1/${path}`;
  return { request: { method: 'POST', url, body }, status: 200, text: JSON.stringify(answer) };
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

/** The channel of an answer with an About panel. */
export function panelChannelId(text: string): string | undefined {
  return /"about\w{0,20}ViewModel"/.test(text) ? /"channelId":\s*"(UC[^"]{22})"/.exec(text)?.[1] : undefined;
}
