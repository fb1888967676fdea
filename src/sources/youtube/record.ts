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

/** The result of each field. What is lost depends on the kind of channel. */
function readResults(channelId: string, page: PageReading, about: About) {
  // A response about the channel alone goes before its page.
  const readings = ofChannel(channelId, inOrder([...(about === 'lost' ? [] : about), ...page.readings]));
  const kind = kindOf(page, valueIn('title', ...readings));
  const hasAbout = hasObject(readings, 'aboutPanel', 'aboutTab');
  const isPanelLost = {
    // Whatever the reason.
    ordinary: valueIn('publishedAt', ...readings) === undefined && valueIn('viewCount', ...readings) === undefined,
    generated: !hasAbout,
    special: !hasAbout && about === 'lost',
  }[kind];
  const isHeaderLost = kind !== 'special' && !hasObject(readings, 'pageHeader', 'c4Header', 'gameHeader');

  function resultOf(field: keyof Channel): FieldResult {
    const found = readings.flatMap(({ part, name, fields: { [field]: reading } }) =>
      reading === undefined ? [] : [{ ...reading, part, path: `${name}.${reading.member}` }],
    );
    const best = found.find(({ value }) => value !== undefined);
    if (best !== undefined) {
      const { part, path, value } = best;
      // Headers round video counts from 1,000 on ("7.6k videos"); the About panel never does.
      const isRounded = field === 'videoCount' && part === 'header' && Number(value) >= 1_000;
      return { state: isRounded && (kind === 'ordinary' || isPanelLost) ? 'lost' : 'found', value, path };
    }
    if (isPanelLost && ABOUT_FIELDS.includes(field)) return { state: 'lost' };
    const [unreadable] = found;
    if (unreadable !== undefined) return { state: 'unreadable', path: unreadable.path, text: unreadable.text ?? '' };
    const isLost = field === 'banner' ? isHeaderLost : kind === 'ordinary' && ORDINARY_FIELDS.includes(field);
    return { state: isLost ? 'lost' : 'absent' };
  }

  return { isPanelLost, results: CHANNEL_FIELDS.map((field) => [field, resultOf(field)] as const) };
}

/**
 * - `ordinary`: it has a header, and About data with the joined date and the views
 * - `generated`: by YouTube, for an artist. Its About data may have neither date nor views nor the number of videos (2022 to 2026)
 * - `special`: a system channel or an age gate, which may lack everything but the title
 */
type ChannelKind = 'ordinary' | 'generated' | 'special';

function kindOf({ readings }: PageReading, title: string | undefined): ChannelKind {
  // A page whose metadata are lost: system channels have no microformat, and games no page header.
  const isNamed = hasObject(readings, 'microformat') && hasObject(readings, 'pageHeader');
  if (hasObject(readings, 'carouselHeader') || !(hasObject(readings, 'metadata') || isNamed)) return 'special';
  return title?.endsWith(' - Topic') ? 'generated' : 'ordinary';
}

/** The fields that an About panel may have, besides its channel's ID. */
const ABOUT_FIELDS = CHANNEL_FIELDS.filter((field) => field !== 'channelId' && field in OBJECTS.aboutPanel.members);

/** Every ordinary channel has them: an empty description and no links are values. */
const ORDINARY_FIELDS: readonly (keyof Channel)[] = ['description', 'publishedAt', 'links'];

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
