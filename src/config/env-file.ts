import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { OperatorError } from '../domain/errors.ts';
import { hasErrorCode } from '../lib/file-system.ts';

/** What was read from `.env`. */
export interface EnvFile {
  /** The path of the file, or a note that there is none. */
  readonly description: string;
  /** The variables that were not already in the environment. */
  readonly loaded: readonly string[];
}

/**
 * Reads a file with settings, in the syntax of Node's own `--env-file`, and adds its variables to the environment. Non-empty
 * variables of the environment are not changed.
 *
 * @param given default: `.env` in the working directory, which may be missing
 * @throws OperatorError if the file is unusable: a channel that it blocks would be served
 */
export function loadEnvFile(env: NodeJS.ProcessEnv, given?: string): EnvFile {
  const path = resolve(given ?? '.env');
  try {
    const variables = readVariables(path);
    const loaded = Object.keys(variables).filter((name) => (env[name] ?? '').trim() === '');
    for (const name of loaded) env[name] = variables[name];
    return { description: path, loaded };
  } catch (error) {
    const isMissing = hasErrorCode(error, 'ENOENT');
    if (isMissing && given === undefined) return { description: `there is no ${path}`, loaded: [] };
    const reason = isMissing ? 'does not exist' : `cannot be used: ${(error as Error).message}`;
    throw new OperatorError(`${path} ${reason}`);
  }
}

function readVariables(path: string): NodeJS.Dict<string> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  // Node takes the next line for the value of a variable that has only spaces.
  const lines = text.split('\n').map((line) => line.trimEnd());
  return parseEnv(lines.join('\n'));
}
