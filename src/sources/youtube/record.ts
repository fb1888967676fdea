import type { Channel } from '../../domain/channel.ts';
import type { About } from './about.ts';
import { ABOUT_PANEL, AGE_GATE, CHANNEL_FIELDS, CHANNEL_LAYOUTS, METADATA } from './layouts.ts';
import { type FieldReading, isEnglish, type PageReading } from './readings.ts';

/** Called for every field of every record with the path that carried it; `undefined` if none did. */
export type FieldObserver = (field: keyof Channel, path: string | undefined) => void;

/**
 * Builds a record from the responses; `undefined` if they contain no channel ID or no title. If `about` is lost, the fields
 * that it would carry are missing, not absent.
 */
export function buildRecord(requestedId: string, page: PageReading, about: About = 'none', onField?: FieldObserver) {
  const found = readable([...page.fields, ...(typeof about === 'object' ? about : [])], page.language);
  const best = CHANNEL_FIELDS.map((field) => ({ field, reading: findBest(field, found) }));
  const values = Object.fromEntries(best.map(({ field, reading }) => [field, reading?.value ?? null]));
  const channelId = values.channelId ?? (isTitled(page) ? requestedId : null);
  if (channelId === null || values.title === null) return undefined;
  // Each value was read by the reader of its field.
  const channel = { ...values, channelId } as Channel;
  const missing = about === 'lost' && page.aboutTab !== 'here' ? missingFields(channel) : [];
  for (const { field, reading } of best) {
    if (!missing.includes(field)) onField?.(field, reading?.path);
  }
  return { channel, isComplete: missing.length === 0, missing };
}

/** The fields of an About panel or tab of a page in English. */
export function readAboutFields(found: readonly FieldReading[]): Partial<Channel> {
  return Object.fromEntries(ABOUT_FIELDS.map((field) => [field, findBest(field, found)?.value ?? null]));
}

/** On a page that is not in English, only values that are the same in every language. */
function readable(found: readonly FieldReading[], language: string | undefined): readonly FieldReading[] {
  const isForeign = language !== undefined && !isEnglish(language);
  return isForeign ? found.filter((reading) => !reading.isEnglish) : found;
}

/** The title or ID in a page. The ID may differ from the requested one. */
export function readPageField(field: 'channelId' | 'title', page: PageReading): string | undefined {
  return findBest(field, page.fields)?.value as string | undefined;
}

/**
 * True if the page belongs to the requested ID without naming it: system channels (Gaming, Live, News; Music, Sports) and
 * age gates have a title but no channel ID.
 */
function isTitled({ fields }: PageReading): boolean {
  return fields.some(({ field, path }) => field === 'title' && TITLED_PARTS.some((part) => path.startsWith(part)));
}

const TITLED_PARTS = ['page.header.', AGE_GATE];

/**
 * True if the page shows a channel. Every channel except system channels and age gates has metadata. An error alert
 * without metadata means that there is no channel to show, whatever title the header has.
 */
export function showsChannel(page: PageReading): boolean {
  const hasMetadata = page.fields.some(({ path }) => path.startsWith(METADATA));
  return (hasMetadata || page.alert === undefined) && readPageField('title', page) !== undefined;
}

/** The value at the first of the field's paths that has one. */
export function findBest(field: keyof Channel, found: readonly FieldReading[]): FieldReading | undefined {
  const byPath = CHANNEL_LAYOUTS[field].map((path) => found.find((each) => each.field === field && each.path === path));
  return byPath.find((reading) => reading !== undefined);
}

/** The fields that an About panel may carry, besides its channel's ID. */
const ABOUT_FIELDS = CHANNEL_FIELDS.filter(
  (field) => field !== 'channelId' && CHANNEL_LAYOUTS[field].some((path) => path.startsWith(ABOUT_PANEL)),
);

/** The page's header rounds video counts from 1,000 on ("7.6k videos"); the About panel never does. */
export function isRoundedVideoCount(videoCount: unknown): boolean {
  return Number(videoCount) >= 1_000;
}

function missingFields(channel: Channel): (keyof Channel)[] {
  return ABOUT_FIELDS.filter(
    (field) => channel[field] === null || (field === 'videoCount' && isRoundedVideoCount(channel.videoCount)),
  );
}
