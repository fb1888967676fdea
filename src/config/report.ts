import { isIP } from 'node:net';
import { isPrivateAddress } from '../lib/ip-ranges.ts';
import { findNearName, suggestionFor } from '../lib/near-name.ts';
import type { EnvFile } from './env-file.ts';
import { type Environment, fileVariable, textIn } from './environment.ts';
import { isShowable, SettingError } from './setting-forms.ts';
import { type Config, readSetting, SETTINGS } from './settings.ts';

const HIDDEN = 'set (not shown)';

export interface ShownSetting {
  readonly name: string;
  /** Never the text of a secret or of an invalid URL. */
  readonly value: string;
  readonly isDefault: boolean;
  /** `default`, `environment` or `.env`; for a secret in a file with the variable that names the file. */
  readonly origin: string;
}

/**
 * All settings in force.
 *
 * @param loadedFromFile the variables that came from `.env`
 */
export function shownSettings(env: Environment, loadedFromFile: readonly string[] = []): ShownSetting[] {
  const originOf = (name: string) => (loadedFromFile.includes(name) ? '.env' : 'environment');
  return Object.values(SETTINGS).map((setting) => {
    const { env: name, fallback, isSecret } = setting;
    const given = textIn(env, name);
    if (given !== '') {
      const value = isSecret || hasHiddenMistake(env, setting) ? HIDDEN : given;
      return { name, value, isDefault: given === fallback, origin: originOf(name) };
    }
    const file = fileVariable(name);
    if (!isSecret || textIn(env, file) === '') return { name, value: fallback, isDefault: true, origin: 'default' };
    return { name, value: HIDDEN, isDefault: false, origin: `${file}, ${originOf(file)}` };
  });
}

/** True for an invalid value that messages do not repeat either. */
function hasHiddenMistake(env: Environment, setting: Parameters<typeof readSetting>[1]): boolean {
  try {
    readSetting(env, setting);
    return false;
  } catch (error) {
    return error instanceof SettingError && !isShowable(error, textIn(env, setting.env));
  }
}

const KNOWN_NAMES: ReadonlySet<string> = new Set(
  Object.values(SETTINGS).flatMap(({ env, isSecret }) => (isSecret ? [env, fileVariable(env)] : [env])),
);
/** Variables that are no settings of this service, but are used by it or by its libraries. */
const USED_BY_OTHERS = /^(?:NODE_ENV|TZ)$/;

/** Warnings about valid settings that probably do not do what the operator wants. */
export function findSettingWarnings(config: Config, isInContainer: boolean): string[] {
  const { trustProxy, baseUrls, consoleHost, consolePort } = config;
  const warnings: string[] = [];
  if (trustProxy.length > 0 && baseUrls.length === 0) {
    warnings.push('TRUST_PROXY is set without BASE_URL: URLs in responses follow each request’s Host');
  }
  const isPublic = isIP(consoleHost) !== 0 && !isPrivateAddress(consoleHost);
  if (isPublic && consolePort !== 0 && !isInContainer) {
    warnings.push(
      `CONSOLE_HOST=${consoleHost} opens the private listener to everyone who reaches this machine: set an address that only the operator reaches`,
    );
  }
  return warnings;
}

/** Names that are probably misspelled, and names in `.env` that are no settings. */
export function findNameWarnings(env: Environment, { path, names, loaded }: EnvFile): string[] {
  const unknownInFile = names.filter((name) => !KNOWN_NAMES.has(name) && !USED_BY_OTHERS.test(name));
  const unknownOutside = Object.keys(env).filter((name) => !KNOWN_NAMES.has(name) && !loaded.includes(name));
  return [
    ...unknownInFile.map((name) => `${path}: ${name} is not a setting${suggestionFor(name, KNOWN_NAMES)}`),
    ...unknownOutside
      .filter((name) => findNearName(name, KNOWN_NAMES) !== undefined)
      .map((name) => `environment: ${name} is not a setting${suggestionFor(name, KNOWN_NAMES)}`),
  ];
}
