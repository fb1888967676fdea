import { readFileSync } from 'node:fs';
import { SettingError } from '../domain/setting-forms.ts';

/** The variable that names a file with a secret in it, as container and service managers hand secrets over. */
export function fileVariable(secret: string): string {
  return `${secret}_FILE`;
}

/**
 * The secret in a file, without the line's end.
 *
 * @throws SettingError that never repeats the content
 */
export function readSecretFile(path: string): string {
  const secret = readText(path).trim();
  if (secret === '') throw new SettingError('is empty');
  return secret;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingError(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
