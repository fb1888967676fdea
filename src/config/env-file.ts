import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { hasErrorCode } from '../lib/file-system.ts';

/** The result of reading `.env`. */
export interface EnvFile {
  readonly path: string;
  readonly isThere: boolean;
  /** Why the file is unusable. Then nothing was read from it. */
  readonly problem: string | undefined;
  /** Every variable that it sets. */
  readonly names: readonly string[];
  /** The variables that were not already in the environment. */
  readonly loaded: readonly string[];
  /** Numbers of the lines that have no effect and are no comments. */
  readonly ignoredLines: readonly number[];
  /** Numbers of the lines whose value lost its end. */
  readonly cutLines: readonly number[];
}

/** A line of the file: a variable, or no variable (`isEmpty`: a comment or nothing). */
type Line =
  | { readonly isEmpty: boolean }
  | { readonly name: string; readonly problem: string }
  | { readonly name: string; readonly value: string; readonly isCut: boolean };

/**
 * Reads a file with settings, in the syntax of Node's own `--env-file`, and adds its variables to the environment. Non-empty
 * variables of the environment are not changed.
 *
 * An unusable file is a `problem` and not ignored: a channel that it blocks would be served.
 *
 * @param given default: `.env` in the working directory
 */
export function loadEnvFile(env: NodeJS.ProcessEnv, given?: string): EnvFile {
  const path = resolve(given ?? '.env');
  const file = { path, isThere: true, problem: undefined, names: [], loaded: [], ignoredLines: [], cutLines: [] };
  try {
    const text = readText(path);
    if (text === undefined && given !== undefined) return { ...file, problem: `${path} does not exist` };
    if (text === undefined) return { ...file, isThere: false };
    const lines = text.split('\n').map(readLine);
    const variables = new Map<string, string>();
    const lastLines = new Map<string, number>();
    for (const [at, line] of lines.entries()) {
      if ('problem' in line) {
        return { ...file, problem: `${path} cannot be used: the value of ${line.name} ${line.problem}` };
      }
      if (!('name' in line)) continue;
      variables.set(line.name, line.value);
      lastLines.set(line.name, at);
    }
    const names = [...variables.keys()];
    const loaded = names.filter((name) => (env[name] ?? '').trim() === '');
    for (const name of loaded) env[name] = variables.get(name);
    const isIgnored = (line: Line, at: number) => ('isEmpty' in line ? !line.isEmpty : lastLines.get(line.name) !== at);
    return {
      ...file,
      names,
      loaded,
      ignoredLines: numbersOf(lines, isIgnored),
      cutLines: numbersOf(lines, (line) => 'isCut' in line && line.isCut),
    };
  } catch (error) {
    return { ...file, problem: `${path} cannot be used: ${reasonOf(error)}` };
  }
}

/** Returns the text without a byte order mark; `undefined` if there is no file. */
function readText(path: string): string | undefined {
  const bytes = readBytes(path);
  if (bytes === undefined) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  // UTF-16 without a byte order mark can pass for UTF-8.
  if (text.includes('\0')) throw new TypeError('NUL');
  return text;
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    // A broken link is an error.
    const isMissing = hasErrorCode(error, 'ENOENT') && lstatSync(path, { throwIfNoEntry: false }) === undefined;
    if (isMissing) return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'it is not UTF-8 text';
  if (hasErrorCode(error, 'EISDIR')) return 'it is a directory';
  if (hasErrorCode(error, 'ENOENT')) return 'it is a link to a file that does not exist';
  return (error as Error).message;
}

function numbersOf(lines: readonly Line[], matches: (line: Line, at: number) => boolean): number[] {
  return lines.flatMap((line, at) => (matches(line, at) ? [at + 1] : []));
}

/**
 * Reads a line alone. In a whole file, Node continues the value of an unclosed quote, or of a space only, on the next line,
 * which may hold a secret.
 */
function readLine(line: string): Line {
  const [variable] = Object.entries(parseEnv(line));
  if (variable === undefined) return { isEmpty: /^\s*(?:#|$)/.test(line) };
  const [name, value = ''] = variable;
  const given = line.slice(line.indexOf('=') + 1).trim();
  const [quote = ''] = /^["'`]/.exec(given) ?? [];
  const end = quote === '' ? given.indexOf('#') : given.indexOf(quote, 1);
  if (quote !== '' && end === -1) return { name, problem: 'has no closing quote' };
  if (value.includes('\n')) return { name, problem: 'has a line break' };
  return { name, value, isCut: quote === '' ? isCutAt(given, end) : !/^\s*(?:#|$)/.test(given.slice(end + 1)) };
}

/** True if the `#` at this place does not clearly begin a comment. */
function isCutAt(given: string, at: number): boolean {
  return at !== -1 && !/^(?:|.*\s)#(?:\s|$)/.test(given.slice(0, at + 2));
}
