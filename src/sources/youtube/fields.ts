import type { Channel } from '../../domain/channel.ts';
import { findCountryCode } from './countries.ts';
import { firstAt } from './json.ts';
import { parseLinks } from './links.ts';
import {
  type CountNoun,
  isPlainCount,
  type MAX_CHARACTERS,
  parseCount,
  parseJoinedDate,
  textOf,
  textWithin,
} from './texts.ts';
import { avatarOriginal, bannerOriginal, parseChannelId, parseHandle, parsePicture } from './urls.ts';

/** Convert the raw value at one of a field's paths; `undefined` if it cannot be read. */
export const FIELD_READERS: { readonly [Field in keyof Channel]: (value: unknown) => Channel[Field] | undefined } = {
  channelId: (value) => parseText(value, 'url', parseChannelId),
  title: (value) => parseText(value, 'title', (text) => (text.trim() === '' ? undefined : text)),
  description: (value) => textWithin(textOf(value), 'description'),
  customUrl: (value) => parseText(value, 'url', parseHandle),
  publishedAt: (value) => parseText(value, 'name', parseJoinedDate),
  country: (value) => parseText(value, 'name', findCountryCode),
  subscriberCount: (value) => countReader('subscriber')(value) ?? parseFollowers(value),
  viewCount: countReader('view'),
  videoCount: countReader('video'),
  links: parseLinks,
  banner: (value) => parsePicture(textWithin(value, 'url'), bannerOriginal),
  avatar: (value) => parsePicture(textWithin(value, 'url'), avatarOriginal),
};

/** Whether the raw value is read as English and would be wrong in another language. */
export function isReadAsEnglish(field: keyof Channel, found: unknown): boolean {
  if (field === 'publishedAt' || field === 'country') return true;
  const isCount = field === 'subscriberCount' || field === 'viewCount' || field === 'videoCount';
  const text = isCount ? textOf(found) : undefined;
  return text !== undefined && !isPlainCount(text);
}

function parseText(
  value: unknown,
  kind: keyof typeof MAX_CHARACTERS,
  parse: (text: string) => string | undefined,
): string | undefined {
  const text = textWithin(textOf(value), kind);
  return text === undefined ? undefined : parse(text);
}

function countReader(noun: CountNoun): (value: unknown) => string | undefined {
  return (value) => parseText(value, 'name', (text) => parseCount(text, noun));
}

/** A schema.org counter: the only count that is the same in every language. */
function parseFollowers(value: unknown): string | undefined {
  if (firstAt(value, 'interactionType.type') !== 'FollowAction') return undefined;
  const count = firstAt(value, 'userInteractionCount');
  return typeof count === 'string' && /^\d{1,15}$/.test(count) ? String(Number(count)) : undefined;
}
