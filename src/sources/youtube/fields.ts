import { findCountryCode } from './countries.ts';
import { parseChannelId, parseHandle } from './identities.ts';
import { firstAt } from './json.ts';
import type { ChannelField } from './layouts.ts';
import { parseLinks } from './links.ts';
import { parsePictureBase } from './pictures.ts';
import { type CountNoun, parseCount, parseJoinedDate, textOf } from './texts.ts';

type FieldReaders = { readonly [Field in ChannelField]: (value: unknown) => unknown };

const FIELD_READERS = {
  channelId: (value) => parseText(value, parseChannelId),
  title: (value) => parseText(value, (text) => (text.trim() === '' ? undefined : text)),
  description: (value) => textOf(value),
  customUrl: (value) => parseText(value, parseHandle),
  publishedAt: (value) => parseText(value, parseJoinedDate),
  country: (value) => parseText(value, findCountryCode),
  subscriberCount: (value) => countReader('subscriber')(value) ?? parseFollowers(value),
  viewCount: countReader('view'),
  videoCount: countReader('video'),
  links: parseLinks,
  banner: parsePictureBase,
  avatar: parsePictureBase,
} satisfies FieldReaders;

export type FieldValue<Field extends ChannelField> = NonNullable<ReturnType<(typeof FIELD_READERS)[Field]>>;

/** A field's value out of what stands at one of its paths; `undefined` where that cannot be read. */
export function readFieldValue(field: ChannelField, found: unknown): unknown {
  return FIELD_READERS[field](found);
}

function parseText(value: unknown, parse: (text: string) => string | undefined): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : parse(text);
}

function countReader(noun: CountNoun): (value: unknown) => string | undefined {
  return (value) => parseText(value, (text) => parseCount(text, noun));
}

/** A schema.org counter: the only count that is a number in every language. */
function parseFollowers(value: unknown): string | undefined {
  if (firstAt(value, 'interactionType.type') !== 'FollowAction') return undefined;
  const count = firstAt(value, 'userInteractionCount');
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? String(Number(count)) : undefined;
}
