import { randomUUID } from 'node:crypto';
import { isUpstreamFailure } from '../../domain/errors.ts';
import type { Innertube } from './innertube.ts';
import type { PageReading } from './page.ts';
import { hasObject, type Reading } from './readings.ts';

/**
 * The About data of a channel: its panel, or the tab of older layouts. Empty if the responses have none, which an ordinary
 * channel has (`record.ts`). `lost`: a call failed, or its response is about another channel.
 */
export type About = readonly Reading[] | 'lost';

/** Loads the panel with a token that is built here, without the page. Rejects only when aborted. */
export function loadAboutPanel(innertube: Innertube, channelId: string, signal: AbortSignal): Promise<About> {
  return valueOrLost(innertube.browseAbout(channelId, buildAboutToken(channelId, randomUUID()), signal), signal);
}

/**
 * The About data of a channel. `panel` is the result of the built token. If there is none, the data is loaded with the token
 * or the tab of the page. Rejects only when aborted.
 */
export async function completeAbout(
  innertube: Innertube,
  channelId: string,
  page: PageReading,
  panel: About,
  signal: AbortSignal,
): Promise<About> {
  if (panel !== 'lost' && panel.length > 0) return panel;
  const offered = await valueOrLost(loadAboutOfPage(innertube, page, channelId, signal), signal);
  return offered.length === 0 ? panel : offered;
}

/** Uses the token in the page's header, or the tab of older headers. */
async function loadAboutOfPage(innertube: Innertube, page: PageReading, channelId: string, signal: AbortSignal) {
  const { readings, aboutToken } = page;
  if (hasObject(readings, 'aboutPanel', 'aboutTab')) return [];
  if (aboutToken !== undefined) {
    const about = await innertube.browseAbout(channelId, aboutToken, signal);
    // The page says that there is a panel. A response without one means that the request is outdated.
    return about.length === 0 ? 'lost' : about;
  }
  // Headers from before the panel, and those of games, which kept their tab.
  if (!hasObject(readings, 'c4Header', 'gameHeader')) return [];
  return innertube.browseAbout(channelId, undefined, signal);
}

/** The result of the work; `lost` if YouTube gave no usable response, unless `signal` was aborted. */
export async function valueOrLost<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'lost'> {
  try {
    return await work;
  } catch (error) {
    if (isUpstreamFailure(error) && !signal.aborted) return 'lost';
    throw error;
  }
}

/*
 * A token is a message of Protocol Buffers (protobuf.dev/programming-guides/encoding), as found in YouTube’s pages
 * (2023-11 to 2026-07): 80226972: { 2: channel ID, 3: parameters }. The parameters are 110: { 3: { 19: { 1: panel ID } } }.
 * Both IDs have a fixed length, so the tags and lengths around them are constant.
 */
const TO_CHANNEL_ID = Buffer.from('e2a985b202601218', 'hex');
const TO_PARAMETERS = Buffer.from('1a44', 'hex');
const TO_PANEL_ID = Buffer.from('f2062b1a299a01260a24', 'hex');

/**
 * Builds the continuation token of a channel's About panel, so that the panel can be loaded in parallel to the page.
 *
 * @param channelId of 24 characters
 * @param panelId any lower-case UUID
 */
export function buildAboutToken(channelId: string, panelId: string): string {
  const panel = Buffer.concat([TO_PANEL_ID, Buffer.from(panelId)]);
  const parameters = Buffer.from(encodeURIComponent(panel.toString('base64')));
  return Buffer.concat([TO_CHANNEL_ID, Buffer.from(channelId), TO_PARAMETERS, parameters]).toString('base64url');
}
