import type { Channel } from '../../domain/channel.ts';
import type { FieldResult, LoadedChannel } from '../source.ts';
import type { About } from './about.ts';
import { CHANNEL_FIELDS } from './fields.ts';
import { OBJECTS } from './objects.ts';
import type { PageReading } from './page.ts';
import { hasObject, inOrder, ofChannel, valueIn } from './readings.ts';

/** Called for every field of every record. */
export type FieldObserver = (field: keyof Channel, result: FieldResult) => void;

/** Builds a record from the responses; `undefined` if they do not name the channel, or have no title. */
export function buildRecord(
  channelId: string,
  page: PageReading,
  about: About,
  onField?: FieldObserver,
): LoadedChannel | undefined {
  const { results, isPanelLost } = readResults(channelId, page, about);
  const values = Object.fromEntries(results.map(([field, result]) => [field, 'value' in result ? result.value : null]));
  if ((values.channelId === null && !isTitled(page)) || values.title === null) return undefined;
  for (const [field, result] of results) onField?.(field, result);
  return {
    // The reader of a field returns values of its type.
    channel: { ...values, channelId } as Channel,
    isComplete: !isPanelLost,
    missing: results.filter(([field, result]) => isMissing(field, result)).map(([field]) => field),
  };
}

/** A place without a country code is not missing. */
function isMissing(field: keyof Channel, { state }: FieldResult): boolean {
  return state === 'lost' || (state === 'unreadable' && field !== 'country');
}

/**
 * The result of each field. An ordinary channel has a header and About data: if neither the joined date nor the views can be
 * read, these are lost, whatever the reason. Of a channel that YouTube generates they are lost only without About data, and of
 * any other channel only if a call failed.
 */
function readResults(channelId: string, page: PageReading, about: About) {
  // A response about the channel alone goes before its page.
  const readings = ofChannel(channelId, inOrder([...(about === 'lost' ? [] : about), ...page.readings]));
  const hasAbout = hasObject(readings, 'aboutPanel', 'aboutTab');
  const isOrdinary = isOrdinaryPage(page);
  const isUsual = isOrdinary && !isGenerated(valueIn('title', ...readings));
  const hasNoDetails =
    valueIn('publishedAt', ...readings) === undefined && valueIn('viewCount', ...readings) === undefined;
  const isPanelLost = isUsual ? hasNoDetails : !hasAbout && (isOrdinary || about === 'lost');
  const isHeaderLost = isOrdinary && !hasObject(readings, 'pageHeader', 'c4Header', 'gameHeader');

  function resultOf(field: keyof Channel): FieldResult {
    const found = readings.flatMap(({ part, name, fields: { [field]: reading } }) =>
      reading === undefined ? [] : [{ ...reading, part, path: `${name}.${reading.member}` }],
    );
    const best = found.find(({ value }) => value !== undefined);
    if (best !== undefined) {
      const { part, path, value } = best;
      // Headers round video counts from 1,000 on ("7.6k videos"); the About panel never does.
      const isRounded = field === 'videoCount' && part === 'header' && Number(value) >= 1_000;
      return { state: isRounded && (isUsual || isPanelLost) ? 'lost' : 'found', value, path };
    }
    if (isPanelLost && ABOUT_FIELDS.includes(field)) return { state: 'lost' };
    const [unreadable] = found;
    if (unreadable !== undefined) return { state: 'unreadable', path: unreadable.path, text: unreadable.text ?? '' };
    const isLost = field === 'banner' ? isHeaderLost : isUsual && USUAL_FIELDS.includes(field);
    return { state: isLost ? 'lost' : 'absent' };
  }

  return { isPanelLost, results: CHANNEL_FIELDS.map((field) => [field, resultOf(field)] as const) };
}

/** An ordinary page whose metadata are lost has a microformat, which system channels lack, and a page header, which games lack. */
function isOrdinaryPage({ readings }: PageReading): boolean {
  const isNamed = hasObject(readings, 'microformat') && hasObject(readings, 'pageHeader');
  return (hasObject(readings, 'metadata') || isNamed) && !hasObject(readings, 'carouselHeader');
}

/** The fields that an About panel may have, besides its channel's ID. */
const ABOUT_FIELDS = CHANNEL_FIELDS.filter((field) => field !== 'channelId' && field in OBJECTS.aboutPanel.members);

/** Every ordinary channel has them: an empty description and no links are values. */
const USUAL_FIELDS: readonly (keyof Channel)[] = ['description', 'publishedAt', 'links'];

/**
 * True for the title of a channel that YouTube generates for an artist. Its About data may have neither date nor views nor the
 * number of videos (2022 to 2026).
 */
function isGenerated(title: string | undefined): boolean {
  return title?.endsWith(' - Topic') === true;
}

/**
 * True if the page belongs to the requested ID without naming it: system channels (Gaming, Live, News; Music, Sports) and
 * age gates have a title but no channel ID.
 */
function isTitled({ readings }: PageReading): boolean {
  const headers = readings.filter(({ part }) => part === 'header');
  return valueIn('title', ...headers) !== undefined;
}

/**
 * True if the page shows a channel. Every channel except system channels and age gates has metadata. An error alert
 * without metadata means that there is no channel to show, whatever title the header has.
 */
export function showsChannel({ readings, alert }: PageReading): boolean {
  return (hasObject(readings, 'metadata') || alert === undefined) && valueIn('title', ...readings) !== undefined;
}
