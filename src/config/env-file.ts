import { readFileSync } from 'node:fs';
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
}

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
  const file = { path, isThere: true, problem: undefined, names: [], loaded: [] };
  try {
    const variables = readVariables(path);
    const names = Object.keys(variables);
    const broken = names.find((name) => /[\r\n]/.test(variables[name] ?? ''));
    if (broken !== undefined) {
      // The next lines, perhaps with secrets and blocked channels, became part of the value.
      const problem = `${path} cannot be used: the value of ${broken} has a line break; is a quote not closed?`;
      return { ...file, problem };
    }
    const loaded = names.filter((name) => (env[name] ?? '').trim() === '');
    for (const name of loaded) env[name] = variables[name];
    return { ...file, names, loaded };
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) {
      return { ...file, problem: `${path} cannot be used: ${(error as Error).message}` };
    }
    return given === undefined ? { ...file, isThere: false } : { ...file, problem: `${path} does not exist` };
  }
}

function readVariables(path: string): NodeJS.Dict<string> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  // Node takes the next line for the value of a variable that has only spaces.
  const lines = text.split('\n').map((line) => line.trimEnd());
  return parseEnv(lines.join('\n'));
}
