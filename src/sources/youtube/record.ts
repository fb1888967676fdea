import type { Channel } from '../../domain/channel.ts';
import type { LoadedChannel } from '../source.ts';
import { findCountryCode } from './countries.ts';
import { parseChannelId, parseHandle } from './identities.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt } from './json.ts';
import {
  ABOUT_TAB,
  AGE_GATE,
  CAROUSEL_DETAILS,
  CHANNEL_FIELDS,
  CHANNEL_LAYOUTS,
  type ChannelField,
  type ChannelLayouts,
} from './layouts.ts';
import { parseLinks } from './links.ts';
import { avatarOriginal, bannerOriginal, parsePictureBase } from './pictures.ts';
import { type CountNoun, parseCount, parseJoinedDate, textOf } from './texts.ts';

/** What upstream answered about one channel. */
export interface ChannelAnswers {
  readonly page: JsonObject;
  /** Empty where there is none. */
  readonly about: JsonObject;
  /** True when the About call ended without an answer: what it would have carried is missing, not absent. */
  readonly isAboutLost: boolean;
  readonly requestedId: string;
}

/** Told, for every field of every record, which path carried it; `undefined` when none did. */
export type FieldObserver = (field: ChannelField, path: string | undefined) => void;

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

type FieldValue<Field extends ChannelField> = NonNullable<ReturnType<(typeof FIELD_READERS)[Field]>>;

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

/**
 * Reads a record; `undefined` when the answers name no channel ID or no title. Never throws, whatever the answers hold.
 */
export function parseChannel(
  answers: ChannelAnswers,
  onField: FieldObserver = () => {},
  layouts: ChannelLayouts = CHANNEL_LAYOUTS,
): LoadedChannel | undefined {
  const carriedBy = new Map<ChannelField, string>();
  const read = <Field extends ChannelField>(field: Field): FieldValue<Field> | null => {
    for (const path of layouts[field]) {
      for (const value of valuesAt(answers, path)) {
        const parsed = FIELD_READERS[field](value);
        if (parsed === undefined) continue;
        carriedBy.set(field, path);
        return parsed as FieldValue<Field>;
      }
    }
    return null;
  };

  const channelId = read('channelId') ?? idOfNamelessPage(answers);
  const title = read('title');
  if (channelId === undefined || title === null) return undefined;
  const banner = read('banner');
  const avatar = read('avatar');
  const channel: Channel = {
    channelId,
    title,
    description: read('description'),
    customUrl: read('customUrl'),
    publishedAt: read('publishedAt'),
    country: read('country'),
    subscriberCount: read('subscriberCount'),
    viewCount: read('viewCount'),
    videoCount: read('videoCount'),
    links: read('links'),
    banner: banner === null ? null : bannerOriginal(banner),
    avatar: avatar === null ? null : avatarOriginal(avatar),
  };
  const missing = missingFields(answers, channel);
  for (const field of CHANNEL_FIELDS) {
    if (!missing.includes(field)) onField(field, carriedBy.get(field));
  }
  return { channel, isComplete: missing.length === 0, missing };
}

/** What a page alone says: its title, or its ID, which may differ from the one that was asked for. */
export function readPageField(field: 'channelId' | 'title', page: JsonObject): string | undefined {
  return CHANNEL_LAYOUTS[field]
    .flatMap((path) => valuesAt({ page }, path))
    .map(FIELD_READERS[field])
    .find((value) => value !== undefined);
}

/** A field's value out of what stands at one of its paths; `undefined` where that cannot be read. */
export function readFieldValue(field: ChannelField, found: unknown): unknown {
  return FIELD_READERS[field](found);
}

/** The page's header counts videos in thousands and millions: such a count is a stopgap. */
export function isRoundedVideoCount(videoCount: unknown): boolean {
  return Number(videoCount) >= ROUNDED_VIDEO_COUNT;
}

/** Age gates and carousel headers carry no ID at all: there, and only there, it is the one that was asked for. */
function idOfNamelessPage(answers: ChannelAnswers): string | undefined {
  const isNameless = [AGE_GATE, CAROUSEL_DETAILS].some((path) => isJsonObject(firstAt(answers, path)));
  return isNameless ? answers.requestedId : undefined;
}

const ABOUT_FIELDS = [
  'description',
  'customUrl',
  'publishedAt',
  'country',
  'subscriberCount',
  'viewCount',
  'videoCount',
  'links',
] as const satisfies readonly ChannelField[];

/** From here on the page's header rounds the number of videos ("7.6k videos"); the About panel never does. */
const ROUNDED_VIDEO_COUNT = 1_000;

function missingFields(answers: ChannelAnswers, channel: Channel): ChannelField[] {
  if (!answers.isAboutLost || valuesAt(answers, ABOUT_TAB).length > 0) return [];
  return ABOUT_FIELDS.filter(
    (field) => channel[field] === null || (field === 'videoCount' && isRoundedVideoCount(channel.videoCount)),
  );
}
