import type { Channel } from '../../domain/channel.ts';
import type { LoadedChannel } from '../source.ts';
import type { FieldValue } from './fields.ts';
import {
  AGE_GATE,
  CHANNEL_FIELDS,
  CHANNEL_LAYOUTS,
  type ChannelField,
  type ChannelLayouts,
  METADATA,
} from './layouts.ts';
import { type FieldReading, isEnglish, type PageReading, type PanelReading } from './readings.ts';
import { avatarOriginal, bannerOriginal } from './urls.ts';

/** What upstream answered about one channel. */
export interface ChannelReadings {
  readonly page: PageReading;
  /** The About tab of older layouts, read like a page. */
  readonly tab?: PageReading | undefined;
  readonly panel?: PanelReading | undefined;
  /** True when the About call ended without an answer: what it would have carried is missing, not absent. */
  readonly isAboutLost: boolean;
  readonly requestedId: string;
}

/** Told, for every field of every record, which path carried it; `undefined` when none did. */
export type FieldObserver = (field: ChannelField, path: string | undefined) => void;

/** Makes a record of what the answers say; `undefined` when they name no channel ID or no title. */
export function buildRecord(
  readings: ChannelReadings,
  onField: FieldObserver = () => {},
  layouts: ChannelLayouts = CHANNEL_LAYOUTS,
): LoadedChannel | undefined {
  const { page, tab, panel, isAboutLost, requestedId } = readings;
  const found = readable(
    [page, tab, panel].flatMap((reading) => reading?.fields ?? []),
    page.language,
  );
  const carriedBy = new Map<ChannelField, string>();
  const best = <Field extends ChannelField>(field: Field): FieldValue<Field> | null => {
    const reading = findBest(field, found, layouts);
    if (reading === undefined) return null;
    carriedBy.set(field, reading.path);
    return reading.value as FieldValue<Field>;
  };

  const channelId = best('channelId') ?? (isTitled(page) ? requestedId : null);
  const title = best('title');
  if (channelId === null || title === null) return undefined;
  const banner = best('banner');
  const avatar = best('avatar');
  const channel: Channel = {
    channelId,
    title,
    description: best('description'),
    customUrl: best('customUrl'),
    publishedAt: best('publishedAt'),
    country: best('country'),
    subscriberCount: best('subscriberCount'),
    viewCount: best('viewCount'),
    videoCount: best('videoCount'),
    links: best('links'),
    banner: banner === null ? null : bannerOriginal(banner),
    avatar: avatar === null ? null : avatarOriginal(avatar),
  };
  const missing = isAboutLost && page.aboutTab !== 'here' ? missingFields(channel) : [];
  for (const field of CHANNEL_FIELDS) {
    if (!missing.includes(field)) onField(field, carriedBy.get(field));
  }
  return { channel, isComplete: missing.length === 0, missing };
}

/** What an About panel or tab says in a page's language of the fields that the page may lack. */
export function readAboutFields(
  { fields }: Pick<PanelReading, 'fields'>,
  language: string | undefined,
): Pick<Channel, (typeof ABOUT_FIELDS)[number]> {
  const found = readable(fields, language);
  const values = ABOUT_FIELDS.map((field) => [field, findBest(field, found, CHANNEL_LAYOUTS)?.value ?? null]);
  return Object.fromEntries(values);
}

/** In a page that is not in English, only what is the same in every language. */
function readable(found: readonly FieldReading[], language: string | undefined): readonly FieldReading[] {
  const isForeign = language !== undefined && !isEnglish(language);
  return isForeign ? found.filter((reading) => !reading.isEnglish) : found;
}

/** What a page alone says: its title, or its ID, which may differ from the one that was asked for. */
export function readPageField(field: 'channelId' | 'title', page: PageReading): string | undefined {
  return findBest(field, page.fields, CHANNEL_LAYOUTS)?.value as string | undefined;
}

/**
 * System channels (Gaming, Live, News; Music, Sports) and age gates name no channel ID: a header or a gate with a title
 * is that of the ID that was asked for.
 */
function isTitled({ fields }: PageReading): boolean {
  return fields.some(({ field, path }) => field === 'title' && TITLED_PARTS.some((part) => path.startsWith(part)));
}

const TITLED_PARTS = ['page.header.', AGE_GATE];

/**
 * True where the page shows a channel. Every channel but a system channel and an age gate has metadata; an error alert
 * without it stands for the channel, whatever title the header has.
 */
export function showsChannel(page: PageReading): boolean {
  const hasMetadata = page.fields.some(({ path }) => path.startsWith(METADATA));
  return (hasMetadata || page.alert === undefined) && readPageField('title', page) !== undefined;
}

/** The reading by the first of the field's paths that carries a value. */
function findBest(
  field: ChannelField,
  found: readonly FieldReading[],
  layouts: ChannelLayouts,
): FieldReading | undefined {
  for (const path of layouts[field]) {
    const reading = found.find((each) => each.field === field && each.path === path);
    if (reading !== undefined) return reading;
  }
  return undefined;
}

/** The page's header counts videos in thousands and millions: such a count is a stopgap. */
export function isRoundedVideoCount(videoCount: unknown): boolean {
  return Number(videoCount) >= ROUNDED_VIDEO_COUNT;
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

function missingFields(channel: Channel): ChannelField[] {
  return ABOUT_FIELDS.filter(
    (field) => channel[field] === null || (field === 'videoCount' && isRoundedVideoCount(channel.videoCount)),
  );
}
