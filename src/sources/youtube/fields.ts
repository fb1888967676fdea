import type { Channel } from '../../domain/channel.ts';
import type { JsonObject } from '../../lib/json.ts';
import { type MAX_CHARACTERS, textWithin } from '../foreign-texts.ts';
import { valuesAt } from '../json.ts';
import { parseChannelId, parseHandle, parseImage } from '../youtube-urls.ts';
import { findCountryCode } from './countries.ts';
import { parseLinks } from './links.ts';
import type { ObjectLayout } from './objects.ts';
import { type CountNoun, parseCount, parseJoinedDate, partsOf, textOf } from './texts.ts';

/** What a member of an object says about a field. */
interface FieldReading {
  readonly member: string;
  /** `undefined`: there is something in an unknown form. */
  readonly value: unknown;
  /** The text that is there if it has no value, shortened. */
  readonly text?: string;
}

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
export function readFields(object: JsonObject, layout: ObjectLayout): FieldReadings {
  const fields = CHANNEL_FIELDS.map((field) => [field, readField(field, object, layout)] as const);
  return Object.fromEntries(fields.filter(([, reading]) => reading !== undefined));
}

function readField(
  field: keyof Channel,
  object: JsonObject,
  { members, texts }: ObjectLayout,
): FieldReading | undefined {
  const paths = members[field] ?? [];
  for (const member of paths) {
    const [value] = readAt(field, object, member);
    if (value !== undefined) return { member, value };
  }
  if (texts !== undefined && AMONG_TEXTS.includes(field)) {
    const values = new Set(readAt(field, object, texts));
    const [value] = values;
    return values.size === 1 ? { member: texts, value } : undefined;
  }
  const names = paths.map((path) => path.split('.', 1)[0] ?? '');
  const member = names.find((name) => hasContent(object[name]));
  if (member !== undefined && !MAY_SAY_NONE.includes(field)) {
    return { member, value: undefined, text: (textOf(object[member]) ?? '').slice(0, SHOWN_CHARACTERS) };
  }
  // A channel without links lacks the member.
  return field === 'links' && names[0] !== undefined ? { member: names[0], value: [] } : undefined;
}

const SHOWN_CHARACTERS = 80;

/** The fields that may be among texts. Several different values are none. */
const AMONG_TEXTS: readonly (keyof Channel)[] = ['customUrl', 'subscriberCount', 'videoCount'];

/** Their members may have the address of a page without a handle, or the default image. */
const MAY_SAY_NONE: readonly (keyof Channel)[] = ['customUrl', 'avatar'];

/** An object lists ten texts or sizes of an image at most. */
const MAX_CANDIDATES = 100;

function readAt(field: keyof Channel, object: JsonObject, path: string): unknown[] {
  const candidates = valuesAt(object, path).slice(0, MAX_CANDIDATES);
  return candidates.map((found) => READERS[field](found)).filter((value) => value !== undefined);
}

function hasContent(member: unknown): boolean {
  return member !== undefined && member !== null && textOf(member)?.trim() !== '';
}
