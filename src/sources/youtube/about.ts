import { randomUUID } from 'node:crypto';
import { isCouldNotTell } from '../../domain/errors.ts';
import { buildAboutToken, findAboutToken } from './about-token.ts';
import type { ApiAnswer } from './answers.ts';
import type { Innertube } from './innertube.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt } from './json.ts';
import { ABOUT_PANEL, ABOUT_TAB } from './layouts.ts';

/**
 * What an About call brought: the `panel`; the page's `contents` with the tab of older layouts; `none` where the channel
 * has neither; `lost` where there was no answer to tell.
 */
export type About =
  | { readonly kind: 'panel'; readonly reply: JsonObject }
  | { readonly kind: 'tab'; readonly contents: unknown }
  | { readonly kind: 'none' }
  | { readonly kind: 'lost' };

const NONE: About = { kind: 'none' };
const LOST: About = { kind: 'lost' };

/** Asks for the panel by a token of our own, without knowing the page. Rejects only when aborted. */
export function loadAboutPanel(innertube: Innertube, channelId: string, signal: AbortSignal): Promise<About> {
  return loadByToken(innertube, buildAboutToken(channelId, randomUUID()), signal);
}

/**
 * Asks the way that the page itself offers: by the token in its header, or for the tab that older headers have.
 * Rejects only when aborted.
 */
export async function loadAboutOfPage(
  innertube: Innertube,
  page: JsonObject,
  channelId: string,
  signal: AbortSignal,
): Promise<About> {
  if (hasAboutTab(page)) return { kind: 'tab', contents: page.contents };
  const token = findAboutToken(page);
  if (token !== undefined) {
    const about = await loadByToken(innertube, token, signal);
    // The page says that there is a panel: an answer without one means that we no longer know how to ask.
    return about.kind === 'panel' ? about : LOST;
  }
  if (!hasOldHeader(page)) return NONE;
  const answer = await answerUnlessLost(innertube.browseAboutTab(channelId, signal), signal);
  if (answer === undefined) return LOST;
  return answer.kind === 'object' && hasAboutTab(answer.body) ? { kind: 'tab', contents: answer.body.contents } : NONE;
}

/** The ID that a panel speaks of. */
export function findPanelChannelId(about: About): unknown {
  return about.kind === 'panel' ? firstAt({ about: about.reply }, `${ABOUT_PANEL}.channelId`) : undefined;
}

async function loadByToken(innertube: Innertube, token: string, signal: AbortSignal): Promise<About> {
  const answer = await answerUnlessLost(innertube.browseContinuation(token, signal), signal);
  if (answer === undefined) return LOST;
  return answer.kind === 'object' && hasPanel(answer.body) ? { kind: 'panel', reply: answer.body } : NONE;
}

async function answerUnlessLost(call: Promise<ApiAnswer>, signal: AbortSignal): Promise<ApiAnswer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isCouldNotTell(error) && !signal.aborted) return undefined;
    throw error;
  }
}

function hasPanel(reply: JsonObject): boolean {
  return isJsonObject(firstAt({ about: reply }, ABOUT_PANEL));
}

function hasAboutTab(page: JsonObject): boolean {
  return valuesAt({ page }, ABOUT_TAB).some(isJsonObject);
}

/** Those of before the panel, and the games' "Topic" channels, which kept their tab (seen 2026-07). */
function hasOldHeader({ header }: JsonObject): boolean {
  return isJsonObject(header) && ('c4TabbedHeaderRenderer' in header || 'interactiveTabbedHeaderRenderer' in header);
}
