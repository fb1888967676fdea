import type { Channel } from '../../domain/channel.ts';
import { isJsonObject, type JsonObject, valuesAt } from '../json.ts';
import type { FieldFinding } from '../source.ts';
import { isDefaultAvatar } from '../youtube-urls.ts';
import { createFinder, type Find } from './kinds.ts';
import * as layouts from './layouts.ts';
import { type FieldReading, isEnglish, readPage, readPanel } from './readings.ts';
import { findBest, isGenerated, isRoundedVideoCount } from './record.ts';

/** Complete responses about one channel. */
interface ChannelResponses {
  readonly page: JsonObject;
  /** Empty if there is none. */
  readonly about: JsonObject;
}

/** The parts of current responses. The first path of each field leads into one of them. */
const PARTS = {
  metadata: layouts.METADATA,
  'page header': layouts.PAGE_HEADER,
  'About panel': layouts.ABOUT_PANEL,
} as const;

const SYSTEM_CHANNEL = 'a system channel (Gaming, News, Music, Sports, events)';

const GENERATED_CHANNEL = 'a channel that YouTube generates for an artist';

/** Channels with special layouts. They have fewer fields, which is not a change of upstream. */
const SPECIAL_CHANNELS = {
  'an age-gated channel': layouts.AGE_GATE,
  [SYSTEM_CHANNEL]: layouts.CAROUSEL_DETAILS,
  'a game’s topic channel': layouts.INTERACTIVE_HEADER,
} as const;

const NOT_READ = 'grouped and abbreviated counts, dates and countries are not read';

function findSpecialLayout(find: Find): string | undefined {
  const isThere = (path: string) => find(path).length > 0;
  if (isThere(layouts.PAGE_HEADER) && !isThere(layouts.METADATA) && !isThere(layouts.MICROFORMAT))
    return SYSTEM_CHANNEL;
  return Object.entries(SPECIAL_CHANNELS).find(([, path]) => isThere(path))?.[0];
}

/** Fields that a channel may lack: hidden, never set, or never uploaded. */
const OPTIONAL_FIELDS: readonly (keyof Channel)[] = ['customUrl', 'country', 'subscriberCount', 'banner', 'avatar'];

/** Compares responses about one channel with the known layouts, field by field. `remarks` are about the whole responses. */
export function inspectChannel(responses: ChannelResponses) {
  const page = readPage(responses.page);
  const readings = [...page.fields, ...readPanel(responses.about).fields];
  const find = createFinder({ ...responses });
  const fields = layouts.CHANNEL_FIELDS.map((field) => inspectField(field, responses, find, readings));
  const special = isGenerated(findBest('title', readings)?.value) ? GENERATED_CHANNEL : findSpecialLayout(find);
  const header = findUnknownHeader(responses.page.header);
  const remarks: string[] = [];
  if (special !== undefined) {
    remarks.push(`This is ${special}: most fields are not available for it. Inspect an ordinary channel.`);
  }
  if (page.language !== undefined && !isEnglish(page.language)) {
    remarks.push(`The page is in another language (${page.language}): ${NOT_READ}.`);
  }
  if (header !== undefined) remarks.push(`The page has an unknown header: ${header}.`);
  return { fields: special === undefined ? fields : fields.map(withoutExpectations), remarks };
}

function inspectField(
  field: keyof Channel,
  responses: ChannelResponses,
  find: Find,
  readings: readonly FieldReading[],
): FieldFinding {
  const newest = layouts.CHANNEL_LAYOUTS[field][0] ?? '';
  const found = findBest(field, readings);
  const unread = find(newest).find((value) => !isKnownAbsence(field, value));
  const missingPart = findMissingPart(newest, find);
  const note =
    unread === undefined ? describeMissing(newest, responses, missingPart) : `cannot be read: ${sampleOf(unread)}`;
  if (found !== undefined) {
    const { path } = found;
    // An image is reported by its key.
    const value = isJsonObject(found.value) ? found.value.key : found.value;
    if (path === newest || path.startsWith(layouts.HTML_PANEL))
      return { field, state: 'fine', value, path, note: null };
    const isRounded = field === 'videoCount' && isRoundedVideoCount(value);
    return { field, state: isRounded ? 'rounded' : 'older', value, path, note };
  }
  const nothing = { field, value: null, path: null };
  if (unread !== undefined) return { ...nothing, state: 'unreadable', path: newest, note };
  const isExpected = !OPTIONAL_FIELDS.includes(field) || missingPart !== undefined;
  if (isExpected) return { ...nothing, state: 'missing', note };
  return { ...nothing, state: 'absent', note: describeUnknown(newest, responses) };
}

function describeMissing(newest: string, responses: ChannelResponses, missingPart: string | undefined): string {
  const what = missingPart === undefined ? `nothing at ${newest}` : `the ${missingPart} is not in the response`;
  return [what, describeUnknown(newest, responses)].filter((text) => text !== null).join('; ');
}

const SHOWN_NAMES = 8;
const LONGEST_SHOWN_NAME = 80;

/** Unknown names at the end of the path. A renamed part is among them. */
function describeUnknown(path: string, responses: ChannelResponses): string | null {
  const steps = path.split('.');
  for (let length = steps.length - 1; length > 0; length -= 1) {
    const objects = valuesAt(responses, steps.slice(0, length).join('.')).filter(isJsonObject);
    if (objects.length === 0) continue;
    const names = new Set(
      objects.flatMap(Object.keys).filter((name) => !layouts.KNOWN_NAMES.has(name) && !layouts.UNREAD_NAMES.has(name)),
    );
    const shown = [...names].slice(0, SHOWN_NAMES).map((name) => name.slice(0, LONGEST_SHOWN_NAME));
    const place = steps.slice(0, length).findLast((step) => step !== '*');
    return shown.length === 0 ? null : `unknown in ${place}: ${shown.join(', ')}`;
  }
  return null;
}

function findMissingPart(path: string, find: Find): string | undefined {
  const part = Object.entries(PARTS).find(([, root]) => path.startsWith(root));
  return part === undefined || find(part[1]).length > 0 ? undefined : part[0];
}

/** Values that mean "none": the default image, and page addresses without a handle. */
function isKnownAbsence(field: keyof Channel, found: unknown): boolean {
  if (typeof found !== 'string') return false;
  return field === 'avatar' ? isDefaultAvatar(found) : field === 'customUrl' && !found.includes('@');
}

/** In a special layout no field counts as missing, and every path is fine. */
function withoutExpectations(finding: FieldFinding): FieldFinding {
  if (finding.state === 'missing') return { ...finding, state: 'absent', note: null };
  return finding.state === 'unreadable' || finding.value === null ? finding : { ...finding, state: 'fine', note: null };
}

function findUnknownHeader(header: unknown): string | undefined {
  if (!isJsonObject(header)) return undefined;
  return Object.keys(header).some((name) => KNOWN_HEADERS.has(name)) ? undefined : Object.keys(header).join(', ');
}

const KNOWN_HEADERS: ReadonlySet<string | undefined> = new Set(
  Object.values(layouts.CHANNEL_LAYOUTS)
    .flat()
    .filter((path) => path.startsWith('page.header.'))
    .map((path) => path.split('.')[2]),
);

const SAMPLE_CHARACTERS = 80;

function sampleOf(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    return text.length > SAMPLE_CHARACTERS ? `${text.slice(0, SAMPLE_CHARACTERS)}…` : text;
  } catch (error) {
    if (error instanceof RangeError) return 'nested too deeply to be shown';
    throw error;
  }
}
