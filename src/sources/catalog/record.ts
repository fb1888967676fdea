import { type Channel, type ChannelLink, isPublishedAt, plainTitle } from '../../domain/channel.ts';
import { findHandle, findUsername, isChannelId } from '../../domain/identifier.ts';
import { printable, quoted } from '../../lib/printable.ts';

/** A channel in the catalog: one line of its file. */
export interface CatalogRecord extends Omit<Channel, 'banner' | 'avatar'> {
  /** The legacy user name. */
  readonly username: string | null;
  /** File names without a folder; `null`: the channel has no such image. */
  readonly bannerFile: string | null;
  readonly avatarFile: string | null;
}

/** The keys that find a record by its handle and user name. */
export function namesOf({ customUrl, username }: CatalogRecord) {
  return {
    handleKey: findHandle(customUrl ?? '')?.key ?? null,
    usernameKey: findUsername(username ?? '')?.key ?? null,
  };
}

/** Why a record is rejected. `field` names the position in it, `""` the whole record. */
export class RecordRefusedError extends Error {
  constructor(field: string, reason: string) {
    super(printable(field === '' ? reason : `${field}: ${reason}`));
  }
}

const MAX_TITLE_CHARACTERS = 200;
const MAX_DESCRIPTION_CHARACTERS = 20_000;
const MAX_LINKS = 100;
const MAX_LINK_TITLE_CHARACTERS = 200;
const MAX_LINK_URL_CHARACTERS = 2_048;
const MAX_FILE_NAME_BYTES = 255;

type Fields = Readonly<Record<string, unknown>>;

/** Reads the value of a field. Throws a `RecordRefusedError` that names `field`. */
type FieldReader<T> = (value: unknown, field: string) => T;

const readCount = optional(textThat((text) => /^(0|[1-9]\d{0,18})$/.test(text), 'a decimal integer as a string'));
const readFileName = optional(textThat(isFileName, 'a file name without a path'));

/** All fields of a line except the ignored ones. */
const READERS: { readonly [K in keyof CatalogRecord]: FieldReader<CatalogRecord[K]> } = {
  channelId: textThat(isChannelId, '"UC" followed by 22 letters, digits, "_" or "-"'),
  title: readTitle,
  description: optional((value, field) => readText(value, field, MAX_DESCRIPTION_CHARACTERS)),
  customUrl: optional(
    textThat(
      (text) => text.startsWith('@') && findHandle(text) !== undefined,
      '"@" and a handle of 1 to 30 letters, digits, "_", "-", "." or "·"',
    ),
  ),
  publishedAt: optional(textThat(isPublishedAt, 'a time that exists, as YYYY-MM-DDThh:mm:ssZ')),
  country: optional(textThat((text) => /^[A-Z]{2}$/.test(text), 'a country code of two capital letters')),
  subscriberCount: readCount,
  viewCount: readCount,
  videoCount: readCount,
  links: optional(readLinks),
  username: optional(
    textThat((text) => findUsername(text) !== undefined, '1 to 60 of the characters A-Z a-z 0-9 "_" "-" "."'),
  ),
  bannerFile: readFileName,
  avatarFile: readFileName,
};

/** Fields of the API's record that follow from others. They are accepted and ignored, so that API responses can be pasted. */
const IGNORED_FIELDS = new Set(['bannerUrl', 'avatarUrl', 'bannerUrls']);

/**
 * Reads one NDJSON line. Missing optional fields become `null`.
 *
 * @throws RecordRefusedError that names the first mistake
 */
export function parseRecord(line: string): CatalogRecord {
  const fields = readObject(parseLine(line), '');
  refuseUnknownFields(fields, '', (name) => Object.hasOwn(READERS, name) || IGNORED_FIELDS.has(name));
  const entries = Object.entries(READERS).map(([name, read]) => [name, read(fields[name], name)]);
  return Object.fromEntries(entries) as CatalogRecord;
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Its message shows a part of the line, which may be of any file that took the place of the operator's.
    throw new RecordRefusedError('', 'not JSON');
  }
}

function readObject(value: unknown, field: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw refusal(field, 'a JSON object', value);
}

function refuseUnknownFields(fields: Fields, parent: string, isKnown: (name: string) => boolean): void {
  const unknown = Object.keys(fields).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  throw new RecordRefusedError(parent + printable(unknown, MAX_SHOWN_CHARACTERS), 'no such field');
}

function optional<T>(read: FieldReader<T>): FieldReader<T | null> {
  return (value, field) => (value === undefined || value === null ? null : read(value, field));
}

function textThat(fits: (text: string) => boolean, expected: string): FieldReader<string> {
  return (value, field) => {
    if (typeof value === 'string' && fits(value)) return value;
    throw refusal(field, expected, value);
  };
}

function readTitle(value: unknown, field: string): string {
  const title = readText(value, field, MAX_TITLE_CHARACTERS);
  if (title.trim() === '') throw refusal(field, 'a text that is not empty', value);
  refuseControls(title, field);
  return title;
}

function readText(value: unknown, field: string, maxCharacters: number): string {
  if (typeof value !== 'string') throw refusal(field, 'a text', value);
  if (value.length > maxCharacters) {
    throw new RecordRefusedError(field, `must have at most ${maxCharacters} characters, has ${value.length}`);
  }
  return value.toWellFormed();
}

/** Names must have no path, so that a record cannot refer to files outside the given folder. */
function isFileName(text: string): boolean {
  const isBare = text.isWellFormed() && /^(?!\.{1,2}$)[^/\\\p{Cc}]+$/u.test(text);
  return isBare && Buffer.byteLength(text) <= MAX_FILE_NAME_BYTES;
}

function readLinks(value: unknown, field: string): ChannelLink[] {
  if (!Array.isArray(value)) throw refusal(field, 'an array of links', value);
  if (value.length > MAX_LINKS) throw refusal(field, `an array of at most ${MAX_LINKS} links`, value);
  return value.map((link, index) => readLink(link, `${field}[${index}]`));
}

function readLink(value: unknown, field: string): ChannelLink {
  const fields = readObject(value, field);
  refuseUnknownFields(fields, `${field}.`, (name) => name === 'title' || name === 'url');
  const title = readText(fields.title, `${field}.title`, MAX_LINK_TITLE_CHARACTERS);
  refuseControls(title, `${field}.title`);
  return { title, url: readHttpUrl(fields.url, `${field}.url`) };
}

function refuseControls(title: string, field: string): void {
  if (plainTitle(title) === title) return;
  throw refusal(field, 'a text without line breaks, other control characters and changes of direction', title);
}

/** Normalizes the URL as browsers do: control characters are dropped or escaped. */
function readHttpUrl(value: unknown, field: string): string {
  const text = readText(value, field, MAX_LINK_URL_CHARACTERS);
  const url = /^https?:\/\/\S+$/.test(text) ? URL.parse(text) : null;
  if (url === null) throw refusal(field, 'an absolute URL with http or https', value);
  return readText(url.href, field, MAX_LINK_URL_CHARACTERS);
}

function refusal(field: string, expected: string, value: unknown): RecordRefusedError {
  return new RecordRefusedError(field, `must be ${expected}, got ${shownValue(value)}`);
}

const MAX_SHOWN_CHARACTERS = 60;

/** A value of the file for a message. The content of lists and objects is left out, because `JSON` cannot write deep nesting. */
function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? quoted(value) : String(value);
}
