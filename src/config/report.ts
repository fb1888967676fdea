import { existsSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { type Environment, findGiven, variablesOf } from './environment.ts';
import { type Config, SETTINGS } from './settings.ts';

/**
 * All settings in force, never with the text of a secret. They must be valid: an invalid value may be a secret in the wrong
 * variable.
 *
 * @param loadedFromFile the variables that came from `.env`
 */
export function shownSettings(env: Environment, loadedFromFile: readonly string[] = []) {
  return Object.values(SETTINGS).map((setting) => {
    const { env: name, fallback, isSecret } = setting;
    const given = findGiven(env, setting);
    if (given === undefined) return { name, value: fallback, origin: 'default' };
    const { variable, value, isFile } = given;
    const origin = loadedFromFile.includes(variable) ? '.env' : 'environment';
    return { name, value: isSecret ? 'set (not shown)' : value, origin: isFile ? `${variable}, ${origin}` : origin };
  });
}

const KNOWN_NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).flatMap(variablesOf));

/**
 * What an operator may not have meant. It stops nothing.
 *
 * @param isContainer whether this process is in a container, whose ports others reach only if they are published
 */
export function findWarnings(config: Config, env: Environment, isContainer = isInContainer(env)): string[] {
  const { sources, youtubeApiKey, consolePort, consoleHost, baseUrls, trustProxy } = config;
  const warnings = findMisspelledNames(env);
  if (youtubeApiKey !== undefined && !sources.includes('youtube-data-api')) {
    warnings.push('YOUTUBE_API_KEY is set, but no source uses it: SOURCES does not name youtube-data-api');
  }
  if (consolePort !== 0 && isEveryAddress(consoleHost) && !isContainer) {
    warnings.push(
      `CONSOLE_HOST=${consoleHost} is every address of this machine: who reaches one of them has the console, which has no login`,
    );
  }
  if (baseUrls.length > 0 && trustProxy.length === 0) {
    warnings.push(
      'BASE_URL is set, but TRUST_PROXY is not: if requests come through a proxy, all its clients share one rate limit',
    );
  }
  return warnings;
}

function isEveryAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified';
}

/** Docker and Podman make a file each; Kubernetes sets a variable. */
function isInContainer(env: Environment): boolean {
  return ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path)) || 'KUBERNETES_SERVICE_HOST' in env;
}

/** Variables that are probably misspelled settings. */
function findMisspelledNames(env: Environment): string[] {
  const unknown = Object.keys(env).filter((name) => !KNOWN_NAMES.has(name));
  return unknown.flatMap((name) => {
    const near = findNearName(name, KNOWN_NAMES);
    return near === undefined ? [] : [`${name} is not a setting; did you mean ${near}?`];
  });
}

/**
 * The known name that is a likely spelling of this one: both are equal when each loses at most one letter. Letter case, `_` and
 * `-` do not count.
 */
function findNearName(name: string, known: Iterable<string>): string | undefined {
  const variants = new Set(withoutOneLetter(name));
  return [...known].find((candidate) => withoutOneLetter(candidate).some((variant) => variants.has(variant)));
}

/** The letters of a name, and the same without each of them. */
function withoutOneLetter(name: string): readonly string[] {
  const letters = name.toLowerCase().replaceAll(/[_-]/g, '');
  return [letters, ...Array.from(letters, (_, at) => letters.slice(0, at) + letters.slice(at + 1))];
}
