import { findCountryCode } from './countries.ts';
import { firstAt } from './json.ts';
import type { ChannelField } from './layouts.ts';
import { parseLinks } from './links.ts';
import {
  type CountNoun,
  isPlainCount,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  MAX_URL_CHARACTERS,
  parseCount,
  parseJoinedDate,
  textOf,
  textWithin,
} from './texts.ts';
import { parseChannelId, parseHandle, parsePictureBase } from './urls.ts';

type FieldReaders = { readonly [Field in ChannelField]: (value: unknown) => unknown };

const FIELD_READERS = {
  channelId: (value) => parseText(value, MAX_URL_CHARACTERS, parseChannelId),
  title: (value) => parseText(value, MAX_TITLE_CHARACTERS, (text) => (text.trim() === '' ? undefined : text)),
  description: (value) => textWithin(textOf(value), MAX_DESCRIPTION_CHARACTERS),
  customUrl: (value) => parseText(value, MAX_URL_CHARACTERS, parseHandle),
  publishedAt: (value) => parseText(value, MAX_NAME_CHARACTERS, parseJoinedDate),
  country: (value) => parseText(value, MAX_NAME_CHARACTERS, findCountryCode),
  subscriberCount: (value) => countReader('subscriber')(value) ?? parseFollowers(value),
  viewCount: countReader('view'),
  videoCount: countReader('video'),
  links: parseLinks,
  banner: (value) => parsePictureBase(textWithin(value, MAX_URL_CHARACTERS)),
  avatar: (value) => parsePictureBase(textWithin(value, MAX_URL_CHARACTERS)),
} satisfies FieldReaders;

export type FieldValue<Field extends ChannelField> = NonNullable<ReturnType<(typeof FIELD_READERS)[Field]>>;

/** Converts the raw value at one of a field's paths; `undefined` if it cannot be read. */
export function readFieldValue(field: ChannelField, found: unknown): unknown {
  return FIELD_READERS[field](found);
}

/** Whether the raw value is read as English and would be wrong in another language. */
export function isReadAsEnglish(field: ChannelField, found: unknown): boolean {
  if (field === 'publishedAt' || field === 'country') return true;
  const isCount = field === 'subscriberCount' || field === 'viewCount' || field === 'videoCount';
  const text = isCount ? textOf(found) : undefined;
  return text !== undefined && !isPlainCount(text);
}

function parseText(
  value: unknown,
  maxCharacters: number,
  parse: (text: string) => string | undefined,
): string | undefined {
  const text = textWithin(textOf(value), maxCharacters);
  return text === undefined ? undefined : parse(text);
}

function countReader(noun: CountNoun): (value: unknown) => string | undefined {
  return (value) => parseText(value, MAX_NAME_CHARACTERS, (text) => parseCount(text, noun));
}

/** A schema.org counter: the only count that is the same in every language. */
function parseFollowers(value: unknown): string | undefined {
  if (firstAt(value, 'interactionType.type') !== 'FollowAction') return undefined;
  const count = firstAt(value, 'userInteractionCount');
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? String(Number(count)) : undefined;
}
