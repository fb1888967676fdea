import { readFileSync } from 'node:fs';
import { SettingError } from '../domain/setting-forms.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The origin of a setting's text. */
export interface Given {
  /** The variable or file that an error message names. */
  readonly origin: string;
  /** @throws SettingError */
  text(): string;
}

/** The value of a variable without surrounding spaces, or `""` if it is not set. */
export function textIn(env: Environment, variable: string): string {
  return env[variable]?.trim() ?? '';
}

export function givenText(env: Environment, variable: string): Given {
  return { origin: variable, text: () => textIn(env, variable) };
}

/** The secret in the variable, or in the file that `NAME_FILE` names. */
export function givenSecret(env: Environment, variable: string): Given {
  const path = textIn(env, fileVariable(variable));
  if (path === '') return givenText(env, variable);
  return {
    origin: `${fileVariable(variable)} (${path})`,
    text() {
      if (textIn(env, variable) === '') return readSecretFile(path);
      throw new SettingError(`${variable} is set as well: set one of the two`);
    },
  };
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
function readSecretFile(path: string): string {
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
