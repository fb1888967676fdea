import { readFileSync } from 'node:fs';
import { isSystemError } from '../lib/file-system.ts';
import type { Setting } from './setting-forms.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that names a file with a secret, as container and service managers provide secrets. */
export function fileVariable(secret: string): string {
  return `${secret}_FILE`;
}

export interface Given {
  readonly variable: string;
  readonly value: string;
  /** The value is the path of a file with a secret. */
  readonly isFile: boolean;
}

/** The variables that may set a setting. */
export function variablesOf({ env, isSecret }: Setting<unknown>): readonly string[] {
  return isSecret ? [env, fileVariable(env)] : [env];
}

/** The variable that sets a setting, and its value without surrounding spaces; `undefined` if the default applies. */
export function findGiven(env: Environment, setting: Setting<unknown>): Given | undefined {
  const variable = variablesOf(setting).find((name) => env[name]?.trim());
  if (variable === undefined) return undefined;
  return { variable, value: env[variable]?.trim() ?? '', isFile: variable !== setting.env };
}

/** The secret in a file, without the line end; `undefined` if it cannot be read or is empty. */
export function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
