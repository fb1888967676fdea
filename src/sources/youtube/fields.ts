import type { Channel } from '../../domain/channel.ts';
import type { JsonObject } from '../../lib/json.ts';
import { valuesAt } from '../json.ts';
import { type MAX_CHARACTERS, textWithin } from '../text-limits.ts';
import { parseChannelId, parseHandle, parseImage } from '../youtube-urls.ts';
import { findCountryCode } from './countries.ts';
import { parseLinks } from './links.ts';
import type { ObjectLayout } from './objects.ts';
import { type CountNoun, parseCount, parseJoinedDate, partsOf, textOf } from './texts.ts';

/** What a member of an object says about a field: a value, or a shortened text for something in an unknown form. */
export type FieldReading = { readonly member: string } & (
  | { readonly value: unknown }
  | { readonly unreadable: string }
);

export type FieldReadings = { readonly [Field in keyof Channel]?: FieldReading };

/** Converts what a member has; `undefined` if it cannot be read. */
const READERS: { readonly [Field in keyof Channel]: (found: unknown) => Channel[Field] | undefined } = {
  channelId: textReader('url', parseChannelId),
  title: textReader('title', (text) => (text.trim() === '' ? undefined : text)),
  description: textReader('description', (text) => text),
  customUrl: textReader('url', (text) => firstPart(text, parseHandle)),
  publishedAt: textReader('name', parseJoinedDate),
  country: textReader('name', findCountryCode),
  subscriberCount: countReader('subscriber'),
  viewCount: countReader('view'),
  videoCount: countReader('video'),
  links: parseLinks,
  banner: (found) => parseImage(textWithin(found, 'url'), 'banner'),
  avatar: (found) => parseImage(textWithin(found, 'url'), 'avatar'),
};

export const CHANNEL_FIELDS = Object.keys(READERS) as readonly (keyof Channel)[];

function textReader(kind: keyof typeof MAX_CHARACTERS, parse: (text: string) => string | undefined) {
  return (found: unknown) => {
    const text = textWithin(textOf(found), kind);
    return text === undefined ? undefined : parse(text);
  };
}

function countReader(noun: CountNoun) {
  return textReader('name', (text) => firstPart(text, (part) => parseCount(part, noun)));
}

function firstPart(text: string, parse: (part: string) => string | undefined): string | undefined {
  return partsOf(text)
    .map(parse)
    .find((value) => value !== undefined);
}

/** What an object says about the fields that its layout has. */
export function readFields(object: JsonObject, { members, texts }: ObjectLayout): FieldReadings {
  const fields = Object.entries(members) as [keyof Channel, readonly string[]][];
  const ofMembers = fields.map(([field, paths]) => [field, readMembers(field, object, paths)] as const);
  const ofTexts =
    texts === undefined ? [] : TEXT_FIELDS.map((field) => [field, readTexts(field, object, texts)] as const);
  return Object.fromEntries([...ofTexts, ...ofMembers].filter(([, reading]) => reading !== undefined));
}

/** An object lists ten texts or sizes of an image at most. */
const MAX_CANDIDATES = 100;

function readMembers(field: keyof Channel, object: JsonObject, paths: readonly string[]): FieldReading | undefined {
  for (const member of paths) {
    const candidates = valuesAt(object, member).slice(0, MAX_CANDIDATES);
    const value = candidates.map((found) => READERS[field](found)).find((read) => read !== undefined);
    if (value !== undefined) return { member, value };
  }
  const named = paths.map((path) => path.split('.', 1)[0] ?? '').filter((name) => hasContent(object[name]));
  const [member] = named;
  if (member !== undefined) {
    if (MAY_SAY_NONE.includes(field)) return undefined;
    return { member, unreadable: (textOf(object[member]) ?? '').slice(0, SHOWN_CHARACTERS) };
  }
  const [newest = ''] = paths;
  // A channel without links lacks the member.
  return field === 'links' ? { member: newest, value: [] } : undefined;
}

const SHOWN_CHARACTERS = 80;

/** Their members may have the address of a page without a handle, or the default image. */
const MAY_SAY_NONE: readonly (keyof Channel)[] = ['customUrl', 'avatar'];

function hasContent(member: unknown): boolean {
  return member !== undefined && member !== null && textOf(member)?.trim() !== '';
}

/** The fields that may be among texts. */
const TEXT_FIELDS = ['customUrl', 'subscriberCount', 'videoCount'] as const;

/** The value that one of the texts has; nothing if several have different ones. */
function readTexts(field: (typeof TEXT_FIELDS)[number], object: JsonObject, path: string): FieldReading | undefined {
  const texts = valuesAt(object, path).slice(0, MAX_CANDIDATES);
  const values = new Set(texts.map(READERS[field]).filter((value) => value !== undefined));
  const [value] = values;
  return values.size === 1 ? { member: path, value } : undefined;
}
