import { randomUUID } from 'node:crypto';
import { isCouldNotTell } from '../../domain/errors.ts';
import { buildAboutToken } from './about-token.ts';
import type { ApiAnswer } from './answers.ts';
import type { Innertube } from './innertube.ts';
import type { PageReading, PanelReading } from './readings.ts';

/**
 * What an About call brought: the `panel`; the `tab` of older layouts; `none` where the channel has neither; `lost`
 * where there was no answer to tell.
 */
export type About =
  | { readonly kind: 'panel'; readonly reading: PanelReading }
  | { readonly kind: 'tab'; readonly reading: PageReading }
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
  page: PageReading,
  channelId: string,
  signal: AbortSignal,
): Promise<About> {
  if (page.aboutTab === 'here') return { kind: 'tab', reading: page };
  if (page.aboutToken !== undefined) {
    const about = await loadByToken(innertube, page.aboutToken, signal);
    // The page says that there is a panel: an answer without one means that we no longer know how to ask.
    return about.kind === 'panel' ? about : LOST;
  }
  if (page.aboutTab === undefined) return NONE;
  const answer = await answerUnlessLost(innertube.browseAboutTab(channelId, signal), signal);
  if (answer === undefined) return LOST;
  return answer.kind === 'value' && answer.value.aboutTab === 'here' ? { kind: 'tab', reading: answer.value } : NONE;
}

/** The ID that a panel speaks of. */
export function findPanelChannelId(about: About): unknown {
  return about.kind === 'panel' ? about.reading.fields.find(({ field }) => field === 'channelId')?.value : undefined;
}

async function loadByToken(innertube: Innertube, token: string, signal: AbortSignal): Promise<About> {
  const answer = await answerUnlessLost(innertube.browseContinuation(token, signal), signal);
  if (answer === undefined) return LOST;
  return answer.kind === 'value' && answer.value.hasPanel ? { kind: 'panel', reading: answer.value } : NONE;
}

async function answerUnlessLost<Value>(
  call: Promise<ApiAnswer<Value>>,
  signal: AbortSignal,
): Promise<ApiAnswer<Value> | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isCouldNotTell(error) && !signal.aborted) return undefined;
    throw error;
  }
}
