import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../../domain/channel.ts';
import { type MAX_CHARACTERS, textWithin } from '../text-limits.ts';
import { parseChannelId, parseHandle, parseImage } from '../youtube-urls.ts';
import { findCountryCode } from './countries.ts';
import { type Find, splitPath } from './kinds.ts';
import * as layouts from './layouts.ts';
import { parseLinks } from './links.ts';
import { type CountNoun, isPlainCount, parseCount, parseJoinedDate, partsOf, textOf } from './texts.ts';

/** A value of a field in a response, and the path that carried it. */
export interface FieldReading {
  readonly field: keyof Channel;
  readonly path: string;
  readonly value: unknown;
  /** True if the value would be wrong on a page in another language: "1,234 videos" is read as English. */
  readonly isEnglish: boolean;
}

/** What a response says about the fields of a channel. */
export interface FieldReadings {
  readonly fields: readonly FieldReading[];
  /** Where the response has something that can only be a value of the field, readable or not. */
  readonly signs: readonly FieldSign[];
}

export interface FieldSign {
  readonly field: keyof Channel;
  readonly path: string;
  /** What is there, shortened; empty if it is no text. */
  readonly text: string;
}

interface Reader<Value> {
  /** Converts the raw value at one of the field's paths; `undefined` if it cannot be read. */
  read(found: unknown): Value | undefined;
  /** Whether the raw value is read as English. Default: it is not. */
  isEnglish?(found: unknown): boolean;
  /** Where anything but an empty text is a value of the field. Default: nowhere. */
  readonly signs?: readonly string[];
}

/** How the fields are read. `layouts.ts` has their places. */
const READERS: { readonly [Field in keyof Channel]: Reader<Channel[Field]> } = {
  channelId: { read: (found) => parseText(found, 'url', parseChannelId) },
  title: { read: (found) => parseText(found, 'title', (text) => (text.trim() === '' ? undefined : text)) },
  description: { read: (found) => textWithin(textOf(found), 'description') },
  customUrl: { read: (found) => parseText(found, 'url', (text) => firstPart(text, parseHandle)) },
  publishedAt: {
    read: (found) => parseText(found, 'name', parseJoinedDate),
    isEnglish: () => true,
    signs: layouts.CHANNEL_LAYOUTS.publishedAt,
  },
  country: {
    read: (found) => parseText(found, 'name', findCountryCode),
    isEnglish: () => true,
    signs: layouts.CHANNEL_LAYOUTS.country,
  },
  subscriberCount: countReader('subscriberCount', 'subscriber'),
  viewCount: countReader('viewCount', 'view'),
  videoCount: countReader('videoCount', 'video'),
  links: { read: parseLinks },
  banner: {
    read: (found) => parseImage(textWithin(found, 'url'), 'banner'),
    signs: [layouts.BANNER, ...layouts.CHANNEL_LAYOUTS.banner],
  },
  avatar: { read: (found) => parseImage(textWithin(found, 'url'), 'avatar') },
};

function parseText(found: unknown, kind: keyof typeof MAX_CHARACTERS, parse: (text: string) => string | undefined) {
  const text = textWithin(textOf(found), kind);
  return text === undefined ? undefined : parse(text);
}

/** Headers have texts of several fields, so only About data shows that there is a count. */
function countReader(field: 'subscriberCount' | 'viewCount' | 'videoCount', noun: CountNoun): Reader<string> {
  return {
    read: (found) => parseText(found, 'name', (text) => firstPart(text, (part) => parseCount(part, noun))),
    isEnglish: (found) => !isPlainCount(textOf(found) ?? ''),
    signs: layouts.CHANNEL_LAYOUTS[field].filter(isAboutPath),
  };
}

function firstPart(text: string, parse: (part: string) => string | undefined): string | undefined {
  return partsOf(text)
    .map(parse)
    .find((value) => value !== undefined);
}

function isAboutPath(path: string): boolean {
  return [layouts.ABOUT_PANEL, layouts.HTML_PANEL, layouts.ABOUT_TAB].some((part) => path.startsWith(part));
}

/**
 * The readable value of each path.
 *
 * A response has each kind of object once. If there are several with readable values, one may be another channel's: a value
 * is read only if all of them have it.
 */
export function readFields(find: Find): FieldReadings {
  const found = layouts.CHANNEL_FIELDS.flatMap((field) =>
    layouts.CHANNEL_LAYOUTS[field].map((path) => ({ field, path, owners: readOwners(field, path, find) })),
  );
  const readable = new Set(
    found.flatMap(({ owners }) => owners.filter(({ values }) => values.length > 0).map(({ owner }) => owner)),
  );
  const fields = found.flatMap(({ field, path, owners }) => {
    const relevant = owners.filter(({ owner }) => readable.has(owner)).map(({ values }) => values);
    const values = relevant.flat();
    const [first] = values;
    const isShared = relevant.every((ofOwner) => ofOwner.length > 0);
    if (first === undefined || !isShared || !values.every(({ value }) => isDeepStrictEqual(value, first.value)))
      return [];
    return { field, path, value: first.value, isEnglish: values.every(({ isEnglish }) => isEnglish) };
  });
  return { fields, signs: findSigns(find) };
}

/** Pages have ten texts or images at one path at most. */
const MAX_CANDIDATES = 100;

function readOwners(field: keyof Channel, path: string, find: Find) {
  const { read, isEnglish = () => false } = READERS[field];
  return find.byOwner(path).map(({ owner, values: candidates }) => {
    const values = candidates
      .slice(0, MAX_CANDIDATES)
      .map((found) => ({ value: read(found), isEnglish: isEnglish(found) }))
      .filter(({ value }) => value !== undefined)
      // An object lists one image in several sizes, which may have several URLs.
      .slice(0, field === 'banner' || field === 'avatar' ? 1 : undefined);
    return { owner, values };
  });
}

const SIGN_CHARACTERS = 80;

function findSigns(find: Find): FieldSign[] {
  return layouts.CHANNEL_FIELDS.flatMap((field) =>
    (READERS[field].signs ?? []).flatMap((path) => {
      const shown = find(path).find((found) => found !== null && textOf(found)?.trim() !== '');
      return shown === undefined ? [] : [{ field, path, text: (textOf(shown) ?? '').slice(0, SIGN_CHARACTERS) }];
    }),
  );
}

/** The readings of a page without those of parts that name another channel than its metadata. */
export function ofOneChannel(found: readonly FieldReading[]): FieldReading[] {
  const isIdentity = ({ field }: FieldReading) => field === 'channelId' || field === 'customUrl';
  const named = found.filter((reading) => isIdentity(reading) && reading.path.startsWith(layouts.METADATA));
  const others = found.filter((reading) =>
    named.some(({ field, value }) => isIdentity(reading) && field === reading.field && !isSame(value, reading.value)),
  );
  const otherOwners = new Set(others.map(({ path }) => splitPath(path).owner));
  return found.filter(({ path }) => !otherOwners.has(splitPath(path).owner));
}

/** Handles differ in letter case. */
function isSame(name: unknown, other: unknown): boolean {
  return String(name).toLowerCase() === String(other).toLowerCase();
}
