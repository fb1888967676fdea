import type { LoadedChannel } from '../source.ts';
import { type About, findPanelChannelId, loadAboutOfPage, loadAboutPanel } from './about.ts';
import { alertError } from './alerts.ts';
import { type ApiAnswer, channelNotFound, invalid } from './answers.ts';
import type { Innertube } from './innertube.ts';
import type { PageReading } from './readings.ts';
import { buildRecord, type FieldObserver, readPageField, showsChannel } from './record.ts';

export interface ChannelLoaderOptions {
  readonly innertube: Innertube;
  readonly useFieldMask: boolean;
  readonly aboutToken: 'computed' | 'page';
  readonly onField?: FieldObserver;
}

const MAX_REDIRECTS = 3;

/**
 * Loads records, in one round trip each: the page and, beside it, the About panel. Without the page there is no record;
 * without the panel there is one that is not complete.
 */
export function createChannelLoader({ innertube, useFieldMask, aboutToken, onField }: ChannelLoaderOptions) {
  async function loadChannel(channelId: string, signal: AbortSignal, redirects = 0): Promise<LoadedChannel> {
    const panelAbort = new AbortController();
    const panel =
      aboutToken === 'computed'
        ? loadAboutPanel(innertube, channelId, AbortSignal.any([signal, panelAbort.signal]))
        : undefined;
    // Its rejection is met below, or of no interest any more where the page has already decided.
    panel?.catch(() => undefined);
    try {
      const page = await loadPage(channelId, signal);
      const target = page.redirects.find((redirect) => redirect !== channelId);
      if (target === undefined) {
        assertShowsChannel(page);
        return await readRecord(channelId, page, await panel, signal);
      }
      if (redirects === MAX_REDIRECTS) throw invalid('The video site redirects this channel too often.');
      panelAbort.abort();
      return await loadChannel(target, signal, redirects + 1);
    } finally {
      panelAbort.abort();
    }
  }

  async function loadPage(channelId: string, signal: AbortSignal): Promise<PageReading> {
    if (useFieldMask) {
      const answer = await innertube.browseChannel(channelId, { useFieldMask, signal });
      if (answer.kind === 'value' && answer.value.hasKnownPart) return answer.value;
    }
    // Age gates have all their data outside the mask; and a refusal may mean the mask, not the channel.
    return requirePage(await innertube.browseChannel(channelId, { useFieldMask: false, signal }));
  }

  async function readRecord(
    requestedId: string,
    page: PageReading,
    panel: About | undefined,
    signal: AbortSignal,
  ): Promise<LoadedChannel> {
    const channelId = readPageField('channelId', page) ?? requestedId;
    const about = await completeAbout(channelId, page, panel, signal);
    const loaded = buildRecord(
      {
        page,
        tab: about.kind === 'tab' ? about.reading : undefined,
        panel: about.kind === 'panel' ? about.reading : undefined,
        isAboutLost: about.kind === 'lost',
        requestedId,
      },
      onField,
    );
    if (loaded === undefined) throw invalid('The video site sent a channel without its ID.');
    return loaded;
  }

  async function completeAbout(
    channelId: string,
    page: PageReading,
    panel: About | undefined,
    signal: AbortSignal,
  ): Promise<About> {
    const panelChannelId = panel && findPanelChannelId(panel);
    // Where the page turns out to be another channel's, its panel is not this one.
    const isOfAnother = panelChannelId !== undefined && panelChannelId !== channelId;
    const about = isOfAnother ? await loadAboutPanel(innertube, channelId, signal) : panel;
    if (about !== undefined && about.kind !== 'none') return about;
    return loadAboutOfPage(innertube, page, channelId, signal);
  }

  return (channelId: string, signal: AbortSignal) => loadChannel(channelId, signal);
}

function requirePage(answer: ApiAnswer<PageReading>): PageReading {
  if (answer.kind === 'value') return answer.value;
  if (answer.status === 404 && answer.reason === 'NOT_FOUND') throw channelNotFound('browse: NOT_FOUND');
  throw invalid('The video site did not understand the question for this channel.', new Error(answer.reason));
}

function assertShowsChannel(page: PageReading): void {
  if (showsChannel(page)) return;
  if (page.alert !== undefined) throw alertError(page.alert);
  throw invalid('The video site sent an answer without a channel.');
}
