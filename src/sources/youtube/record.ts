import type { Channel } from '../../domain/channel.ts';
import type { FieldResult, LoadedChannel } from '../source.ts';
import type { About } from './about.ts';
import type { FieldReading } from './fields.ts';
import { ABOUT_PANEL, AGE_GATE, CHANNEL_FIELDS, CHANNEL_LAYOUTS, METADATA } from './layouts.ts';
import type { PageReading } from './readings.ts';

/** Called for every field of every record. */
export type FieldObserver = (field: keyof Channel, result: FieldResult) => void;

/** Builds a record from the responses; `undefined` if they contain no channel ID or no title. */
export function buildRecord(
  requestedId: string,
  page: PageReading,
  about: About = 'none',
  onField?: FieldObserver,
): LoadedChannel | undefined {
  const results = readResults(page, about);
  const values = Object.fromEntries(results.map(([field, result]) => [field, 'value' in result ? result.value : null]));
  const channelId = values.channelId ?? (isTitled(page) ? requestedId : null);
  if (channelId === null || values.title === null) return undefined;
  for (const [field, result] of results) onField?.(field, result);
  return {
    // The reader of a field returns values of its type.
    channel: { ...values, channelId } as Channel,
    isComplete: !results.some(([, { state }]) => state === 'lost'),
    missing: results.filter(([, { state }]) => state !== 'found' && state !== 'absent').map(([field]) => field),
  };
}

/**
 * The result of each field. An ordinary channel has a header and About data: if neither the joined date nor the views can be
 * read, these are lost, whatever the reason. Of a channel that YouTube generates they are lost only without About data, and of
 * any other channel only if a call failed.
 */
function readResults(page: PageReading, about: About): (readonly [keyof Channel, FieldResult])[] {
  const { isOrdinary, hasHeader, isForeign, aboutTab } = page;
  const panel = typeof about === 'object' ? about : undefined;
  const found = [...page.fields, ...(panel?.fields ?? [])].filter(({ isEnglish }) => !isForeign || !isEnglish);
  const signs = [...page.signs, ...(panel?.signs ?? [])];
  const has = (field: keyof Channel) => found.some((reading) => reading.field === field);

  const isUsual = isOrdinary && !isGenerated(findBest('title', found)?.value);
  const hasNoAbout = about === 'lost' || (isOrdinary && about === 'none');
  const isPanelLost = isUsual ? !has('publishedAt') && !has('viewCount') : hasNoAbout && aboutTab !== 'here';
  const isHeaderLost = isOrdinary && !hasHeader;

  function resultOf(field: keyof Channel): FieldResult {
    const best = findBest(field, found);
    if (best !== undefined) {
      const { value, path } = best;
      return { state: (isUsual || isPanelLost) && isRounded(best) ? 'rounded' : 'found', value, path };
    }
    if (isPanelLost && ABOUT_FIELDS.includes(field)) return { state: 'lost' };
    const sign = signs.find((other) => other.field === field);
    if (sign !== undefined) return { state: 'unreadable', path: sign.path, text: sign.text };
    const isMissing = field === 'banner' ? isHeaderLost : isUsual && USUAL_FIELDS.includes(field);
    return { state: isMissing ? 'missing' : 'absent' };
  }

  return CHANNEL_FIELDS.map((field) => [field, resultOf(field)]);
}

/** The fields that an About panel may carry, besides its channel's ID. */
const ABOUT_FIELDS = CHANNEL_FIELDS.filter(
  (field) => field !== 'channelId' && CHANNEL_LAYOUTS[field].some((path) => path.startsWith(ABOUT_PANEL)),
);

/** Every ordinary channel has them: an empty description and no links are values. */
const USUAL_FIELDS: readonly (keyof Channel)[] = ['description', 'publishedAt', 'links'];

/**
 * True for the title of a channel that YouTube generates for an artist. Its About data may have neither date nor views nor the
 * number of videos (2022 to 2026).
 */
function isGenerated(title: unknown): boolean {
  return typeof title === 'string' && title.endsWith(' - Topic');
}

/** Headers round video counts from 1,000 on ("7.6k videos"); the About panel never does. */
function isRounded({ field, path, value }: FieldReading): boolean {
  return field === 'videoCount' && path.startsWith('page.header.') && Number(value) >= 1_000;
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
