import { parseConfig } from '../config/settings.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, valueOrError } from '../domain/errors.ts';
import { createHttpClient } from '../lib/http/http-client.ts';
import { describeFailure } from '../lib/logger.ts';
import { printable } from '../lib/printable.ts';
import { openYoutube } from '../sources/registry.ts';
import { type FieldResult, loadFirst } from '../sources/source.ts';
import { type Command, formatTable, requireIdentifiers } from './command.ts';

/** The whole load. */
const LOAD_MS = 20_000;

export const doctorCommand: Command = {
  usage: 'doctor @handle|ID|username',
  help: `Loads a channel from YouTube, without any cache, and shows every field of its record: its value, and the object and
member of YouTube's responses that have it. Choose a channel that has a banner, a country and links.

  found       the value
  unreadable  a value in an unknown form
  lost        nothing or a rounded count: the object or member is not in the responses, although every ordinary channel has it
  absent      nothing, as for a channel that has none

Exit code: 0 every field is found, 1 a field is not found or there is no record, 2 invalid arguments.`,
  argumentName: '@handle|ID|username',
  async run([argument = ''], { version, env, stdout }) {
    const identifiers = requireIdentifiers(argument);
    const results = new Map<keyof Channel, FieldResult>();
    const config = parseConfig(env);
    const http = createHttpClient({ userAgent: `Pennant/${version}`, proxyEnv: config.proxyEnv });
    const source = openYoutube(config, http, (field, result) =>
      results.set(field, isEmpty(result) ? { state: 'absent' } : result),
    );
    const found = await valueOrError(loadFirst(source, identifiers, { signal: AbortSignal.timeout(LOAD_MS) }));
    await http.close();
    const feed = found instanceof AppError ? undefined : found.loaded.feed;
    if (feed) results.set('publishedAt', { state: 'found', value: feed.publishedAt, path: 'feed.published' });

    const problem = found instanceof AppError ? `${found.code}: ${describeFailure(found)}` : findMissing(results);
    stdout.write(`${renderFields(results)}${printable(argument)}: ${printable(problem ?? 'Every field is found.')}\n`);
    return problem === undefined;
  },
};

/** A sentence about the fields that are not found; `undefined` if there are none. */
function findMissing(results: ReadonlyMap<keyof Channel, FieldResult>): string | undefined {
  const missing = [...results].filter(([, { state }]) => state !== 'found');
  if (missing.length === 0) return undefined;
  return `Not found: ${missing.map(([field, { state }]) => `${field} (${state})`).join(', ')}.`;
}

/** An empty text or list is what is left of a field that was renamed. */
function isEmpty(result: FieldResult): boolean {
  return 'value' in result && (result.value === '' || (Array.isArray(result.value) && result.value.length === 0));
}

const VALUE_CHARACTERS = 48;

/** A table of fields, with the object and the member that have each of them, and a blank line; nothing without fields. */
export function renderFields(results: ReadonlyMap<keyof Channel, FieldResult>): string {
  if (results.size === 0) return '';
  const rows = [...results].map(([field, result]) => {
    const path = 'path' in result ? result.path : '';
    return [field, result.state, printable(textOf(result), VALUE_CHARACTERS), path ?? ''];
  });
  return `${formatTable([['FIELD', 'STATE', 'VALUE', 'FROM'], ...rows])}\n\n`;
}

/** The value of a field, or the text that cannot be read. An image is shown by its URL. */
function textOf(result: FieldResult): string {
  if (!('value' in result)) return 'text' in result ? result.text : '';
  const { value } = result;
  const shown = typeof value === 'object' && value !== null && 'key' in value ? value.key : value;
  return typeof shown === 'string' ? shown : JSON.stringify(shown);
}
