import { findNearName } from '../lib/near-name.ts';
import { type Environment, fileVariable, findGiven } from './environment.ts';
import { SETTINGS } from './settings.ts';

export interface ShownSetting {
  readonly name: string;
  /** Never the text of a secret. */
  readonly value: string;
  /** `default`, `environment` or `.env`; for a secret in a file with the variable that names the file. */
  readonly origin: string;
}

/**
 * All settings in force. They must be valid: an invalid value may be a secret in the wrong variable.
 *
 * @param loadedFromFile the variables that came from `.env`
 */
export function shownSettings(env: Environment, loadedFromFile: readonly string[] = []): ShownSetting[] {
  return Object.values(SETTINGS).map((setting) => {
    const { env: name, fallback, isSecret } = setting;
    const given = findGiven(env, setting);
    if (given === undefined) return { name, value: fallback, origin: 'default' };
    const { variable, value, isFile } = given;
    const origin = loadedFromFile.includes(variable) ? '.env' : 'environment';
    return { name, value: isSecret ? 'set (not shown)' : value, origin: isFile ? `${variable}, ${origin}` : origin };
  });
}

const KNOWN_NAMES: ReadonlySet<string> = new Set(
  Object.values(SETTINGS).flatMap(({ env, isSecret }) => (isSecret ? [env, fileVariable(env)] : [env])),
);

/** Variables that are probably misspelled settings. */
export function findNameWarnings(env: Environment): string[] {
  const unknown = Object.keys(env).filter((name) => !KNOWN_NAMES.has(name));
  return unknown.flatMap((name) => {
    const near = findNearName(name, KNOWN_NAMES);
    return near === undefined ? [] : [`${name} is not a setting; did you mean ${near}?`];
  });
}
