import type { Channel } from '../../domain/channel.ts';
import { AppError, isIndeterminate } from '../../domain/errors.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import { withDeadline } from '../../lib/work.ts';
import type { LoadedChannel } from '../source.ts';
import { type About, completeAbout, loadAboutPanel } from './about.ts';
import { type ApiAnswer, alertError, channelNotFound, invalid } from './answers.ts';
import type { Innertube } from './innertube.ts';
import type { PageReading } from './readings.ts';
import { buildRecord, type FieldObserver, readAboutFields, readPageField, showsChannel } from './record.ts';

export interface ChannelLoaderOptions {
  readonly innertube: Innertube;
  readonly useFieldMask: boolean;
  readonly aboutToken: 'computed' | 'page';
  readonly onField?: FieldObserver;
  readonly clock: Clock;
}

const MAX_REDIRECTS = 3;

/**
 * Loads a record in one round trip: the page and the About panel in parallel. Without the page there is no record; without
 * the panel the record is incomplete.
 */
export function createChannelLoader(options: ChannelLoaderOptions) {
  const { innertube, useFieldMask, aboutToken, onField, clock } = options;

  async function loadChannel(channelId: string, signal: AbortSignal, redirects = 0): Promise<LoadedChannel> {
    const panelAbort = new AbortController();
    const panel = startPanel(channelId, AbortSignal.any([signal, panelAbort.signal]));
    // The rejection is handled below. If the page alone decides the result, it does not matter.
    panel?.catch(() => undefined);
    try {
      const page = await loadPage(channelId, signal);
      const target = page.redirects.find((redirect) => redirect !== channelId);
      if (target === undefined) {
        assertShowsChannel(page);
        return await readRecord(channelId, page, panel, signal);
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
    // Age gates have their data outside the mask, and a refusal may concern the mask instead of the channel.
    return requirePage(await innertube.browseChannel(channelId, { useFieldMask: false, signal }));
  }

  /** Starts to load the panel before the page is known, unless the setting demands the token of the page. */
  function startPanel(channelId: string, signal: AbortSignal): Promise<About> | undefined {
    return aboutToken === 'computed' ? loadAboutPanel(innertube, channelId, signal) : undefined;
  }

  async function readRecord(
    requestedId: string,
    page: PageReading,
    panel: Promise<About> | undefined,
    signal: AbortSignal,
  ): Promise<LoadedChannel> {
    const channelId = readPageField('channelId', page) ?? requestedId;
    const about = await waitForAbout(signal, async (patience) =>
      completeAbout(innertube, channelId, page, await panel, patience),
    );
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
    return loaded.isComplete ? loaded : { ...loaded, rest: formatRest(page) };
  }

  /** Limits the wait: a failed panel must not fail the page. */
  async function waitForAbout(signal: AbortSignal, load: (patience: AbortSignal) => Promise<About>): Promise<About> {
    try {
      return await withDeadline(clock, TIME_LIMITS_MS.aboutWait, signal, load);
    } catch (error) {
      if (isIndeterminate(error) && !signal.aborted) return { kind: 'lost' };
      throw error;
    }
  }

  async function loadRest(channelId: string, rest: string, signal: AbortSignal): Promise<Partial<Channel>> {
    const { language, ...hints } = parseRest(rest);
    const about = await completeAbout(innertube, channelId, hints, await startPanel(channelId, signal), signal);
    if (about.kind === 'lost') {
      throw new AppError('upstream_unavailable', 'The video site sent incomplete data for this channel.');
    }
    return readAboutFields('reading' in about ? about.reading : { fields: [] }, language);
  }

  return {
    loadChannel: (channelId: string, signal: AbortSignal) => loadChannel(channelId, signal),
    /** Loads the About data that `loadChannel` could not load, and returns the fields in it. */
    loadRest,
  };
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

/** The details of a page that are needed to load the About data later, without the page. */
type Rest = Pick<PageReading, 'aboutToken' | 'aboutTab' | 'language'>;

function formatRest({ aboutToken, aboutTab, language }: Rest): string {
  const known = Object.entries({ token: aboutToken, tab: aboutTab, language });
  return new URLSearchParams(known.filter((entry): entry is [string, string] => entry[1] !== undefined)).toString();
}

function parseRest(text: string): Rest {
  const known = new URLSearchParams(text);
  return {
    aboutToken: known.get('token') ?? undefined,
    aboutTab: known.get('tab') === 'elsewhere' ? 'elsewhere' : undefined,
    language: known.get('language') ?? undefined,
  };
}
