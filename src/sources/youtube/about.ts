import { randomUUID } from 'node:crypto';
import { isIndeterminate } from '../../domain/errors.ts';
import type { Innertube } from './innertube.ts';
import type { FieldReading, PageReading } from './readings.ts';

/**
 * The values in the About data of a channel: in its panel, or in the tab of older layouts. `none`: the channel has no About
 * data beside its page. `lost`: a call failed.
 */
export type About = readonly FieldReading[] | 'none' | 'lost';

/** The information in a page for loading the channel's About data. */
export type AboutHints = Pick<PageReading, 'aboutToken' | 'aboutTab'>;

/** Loads the panel with a token that is built here, without the page. Rejects only when aborted. */
export function loadAboutPanel(innertube: Innertube, channelId: string, signal: AbortSignal): Promise<About> {
  return loadByToken(innertube, buildAboutToken(channelId, randomUUID()), signal);
}

/**
 * The About data of a channel. `panel` is the result of the built token; `undefined`: it was not tried. If that is no panel
 * of this channel, the data is loaded again in the way that the page names. Rejects only when aborted.
 */
export async function completeAbout(
  innertube: Innertube,
  channelId: string,
  hints: AboutHints,
  panel: About | undefined,
  signal: AbortSignal,
): Promise<About> {
  // After a redirect the panel is that of another channel.
  const isOfAnother =
    typeof panel === 'object' && panel.some(({ field, value }) => field === 'channelId' && value !== channelId);
  const about = isOfAnother ? await loadAboutPanel(innertube, channelId, signal) : panel;
  if (typeof about === 'object') return about;
  const offered = await loadAboutOfPage(innertube, hints, channelId, signal);
  return offered === 'none' && about === 'lost' ? 'lost' : offered;
}

/** Uses the token in the page's header, or the tab of older headers. */
async function loadAboutOfPage(
  innertube: Innertube,
  { aboutTab, aboutToken }: AboutHints,
  channelId: string,
  signal: AbortSignal,
): Promise<About> {
  if (aboutTab === 'here') return 'none';
  if (aboutToken !== undefined) {
    const about = await loadByToken(innertube, aboutToken, signal);
    // The page says that there is a panel. A response without one means that the request is outdated.
    return about === 'none' ? 'lost' : about;
  }
  if (aboutTab === undefined) return 'none';
  const answer = await unlessLost(innertube.browseAboutTab(channelId, signal), signal);
  if (answer === 'lost') return 'lost';
  return answer.kind === 'value' && answer.value.aboutTab === 'here' ? answer.value.fields : 'none';
}

async function loadByToken(innertube: Innertube, token: string, signal: AbortSignal): Promise<About> {
  const answer = await unlessLost(innertube.browseContinuation(token, signal), signal);
  if (answer === 'lost') return 'lost';
  return answer.kind === 'value' && answer.value.hasPanel ? answer.value.fields : 'none';
}

/** The result of the work; `lost` if upstream gave no usable answer, unless `signal` was aborted. */
export async function unlessLost<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'lost'> {
  try {
    return await work;
  } catch (error) {
    if (isIndeterminate(error) && !signal.aborted) return 'lost';
    throw error;
  }
}

/** Protocol Buffers wire type of strings and nested messages: protobuf.dev/programming-guides/encoding. */
const LENGTH_DELIMITED = 2;

/** Field numbers of the continuation messages, found in tokens of upstream's pages (2023-11 to 2026-07). */
const CONTINUATION_FIELD = 80226972;
const CHANNEL_ID_FIELD = 2;
const PARAMETERS_FIELD = 3;
const PANEL_PATH = [110, 3, 19];
const PANEL_ID_FIELD = 1;

/**
 * Builds the continuation token of a channel's About panel, so that the panel can be loaded in parallel to the page.
 * `panelId` is any lower-case UUID.
 */
export function buildAboutToken(channelId: string, panelId: string): string {
  const panel = PANEL_PATH.reduceRight(
    (message, number) => field(number, message),
    field(PANEL_ID_FIELD, Buffer.from(panelId)),
  );
  const parameters = encodeURIComponent(panel.toString('base64'));
  const message = field(
    CONTINUATION_FIELD,
    Buffer.concat([field(CHANNEL_ID_FIELD, Buffer.from(channelId)), field(PARAMETERS_FIELD, Buffer.from(parameters))]),
  );
  return encodeURIComponent(message.toString('base64').replaceAll('+', '-').replaceAll('/', '_'));
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...bytes, rest]);
}
