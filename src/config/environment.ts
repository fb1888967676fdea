import { readFileSync } from 'node:fs';
import { isSystemError } from '../lib/file-system.ts';
import type { Setting } from './setting-forms.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names a file with a secret, as container and service managers provide secrets. */
export function fileVariable(secret: string): string {
  return `${secret}_FILE`;
}

interface FoundText {
  /** Its own variable, also for a default; or the one that names a file. */
  readonly variable: string;
  readonly isDefault: boolean;
  /** `undefined` if the file cannot be read or is empty. */
  readonly text: string | undefined;
}

/** The text of a setting without surrounding spaces: of its variable, else of the file with a secret, else the default. */
export function findText(env: Environment, { env: name, fallback, isSecret }: Setting<unknown>): FoundText {
  const given = env[name]?.trim();
  if (given) return { variable: name, isDefault: false, text: given };
  const variable = fileVariable(name);
  const path = isSecret && env[variable]?.trim();
  if (path) return { variable, isDefault: false, text: readSecret(path) };
  return { variable: name, isDefault: true, text: fallback };
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
