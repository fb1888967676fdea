import type { Channel } from '../../domain/channel.ts';
import type { About } from './about.ts';
import { ABOUT_PANEL, AGE_GATE, CHANNEL_FIELDS, CHANNEL_LAYOUTS, METADATA } from './layouts.ts';
import { type FieldReading, isEnglish, type PageReading } from './readings.ts';

/** Called for every field of every record with the path that carried it; `undefined` if none did, or if it is missing. */
export type FieldObserver = (field: keyof Channel, path: string | undefined) => void;

/**
 * Builds a record from the responses; `undefined` if they contain no channel ID or no title. A field is missing, not absent,
 * if the part that would carry it is lost, or if its value cannot be read.
 */
export function buildRecord(requestedId: string, page: PageReading, about: About = 'none', onField?: FieldObserver) {
  const found = readable([...page.fields, ...(typeof about === 'object' ? about.fields : [])], page.language);
  const best = CHANNEL_FIELDS.map((field) => findBest(field, found)).filter((reading) => reading !== undefined);
  const readingOf = (field: keyof Channel) => best.find((reading) => reading.field === field);
  const values = Object.fromEntries(CHANNEL_FIELDS.map((field) => [field, readingOf(field)?.value ?? null]));
  const channelId = values.channelId ?? (isTitled(page) ? requestedId : null);
  if (channelId === null || values.title === null) return undefined;
  // Each value was read by the reader of its field.
  const channel = { ...values, channelId } as Channel;
  const { missing, isPanelLost } = findMissing(page, about, best);
  for (const field of CHANNEL_FIELDS) onField?.(field, missing.includes(field) ? undefined : readingOf(field)?.path);
  return { channel, isComplete: !isPanelLost, missing };
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

/** Headers round video counts from 1,000 on ("7.6k videos"); the About panel never does. */
export function isRoundedVideoCount(videoCount: unknown): boolean {
  return Number(videoCount) >= 1_000;
}

/** Every ordinary channel has them: an empty description and no links are values. */
const USUAL_FIELDS = ['description', 'publishedAt', 'links'] as const;

/**
 * True for the title of a channel that YouTube generates for an artist. Its About data may have neither date nor views nor the
 * number of videos (2022 to 2026).
 */
export function isGenerated(title: unknown): boolean {
  return typeof title === 'string' && title.endsWith(' - Topic');
}

/**
 * The fields that are not there because a part of the responses is lost. An ordinary channel has a header and About data: if
 * neither the joined date nor the views can be read, these are lost, whatever the reason. Of a channel that YouTube generates they
 * are lost only without About data, and of any other channel only if a call failed.
 *
 * @param found the best reading of each field
 */
function findMissing(page: PageReading, about: About, found: readonly FieldReading[]) {
  const { isOrdinary, hasHeader, aboutTab } = page;
  const has = (field: keyof Channel) => found.some((reading) => reading.field === field);
  const isUsual = isOrdinary && !isGenerated(found.find(({ field }) => field === 'title')?.value);
  const hasNoAbout = about === 'lost' || (isOrdinary && about === 'none');
  const isPanelLost = isUsual ? !has('publishedAt') && !has('viewCount') : hasNoAbout && aboutTab !== 'here';
  const expected: readonly (keyof Channel)[] = [
    ...(isPanelLost ? ABOUT_FIELDS : []),
    ...(isUsual ? USUAL_FIELDS : []),
    ...(isOrdinary && !hasHeader ? (['banner'] as const) : []),
    ...page.unreadable,
    ...(typeof about === 'object' ? about.unreadable : []),
  ];
  const isRounded = (isUsual || isPanelLost) && found.some(isRoundedCount);
  const missing = CHANNEL_FIELDS.filter(
    (field) => (field === 'videoCount' && isRounded) || (expected.includes(field) && !has(field)),
  );
  return { missing, isPanelLost };
}

function isRoundedCount({ field, path, value }: FieldReading): boolean {
  return field === 'videoCount' && path.startsWith('page.header.') && isRoundedVideoCount(value);
}
