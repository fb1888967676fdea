import { readFileSync } from 'node:fs';
import { SettingError } from './setting-forms.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable without surrounding spaces, or `""` if it is not set. */
export function textIn(env: Environment, variable: string): string {
  return env[variable]?.trim() ?? '';
}

/** The variable that names a file with a secret, as container and service managers provide secrets. */
export function fileVariable(secret: string): string {
  return `${secret}_FILE`;
}

/**
 * The secret in a file, without the line end.
 *
 * @throws SettingError that never repeats the content
 */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingError(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const secret = text.trim();
  if (secret === '') throw new SettingError('is empty');
  return secret;
}
