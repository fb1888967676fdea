import { type Channel, isPublishedAt } from '../domain/channel.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Failover } from '../sources/failover.ts';
import { publishedKey } from '../store/keys.ts';
import { FOR_GOOD_MS, type Store } from '../store/store.ts';

interface ExactPublishDatesOptions {
  readonly store: Store;
  readonly runtime: Pick<Runtime, 'clock' | 'logger' | 'refusedValues'>;
  readonly sources: Pick<Failover, 'findPublishedAt'>;
}

/** The ending of a time of which only the day is known. */
const DAY_ONLY = 'T00:00:00Z';

/** The exact creation time of channels. Most upstream responses contain only the day. It never changes and is stored for good. */
export interface ExactPublishDates {
  /**
   * Returns the channel with its exact `publishedAt` if that is known. Otherwise loads it in the background, once for each
   * load of the record, and calls `onFound`.
   */
  complete(channel: Channel, onFound: (publishedAt: string) => Promise<void>): Promise<Channel>;
}

export function createExactPublishDates({ store, sources, runtime }: ExactPublishDatesOptions): ExactPublishDates {
  const { clock, logger, refusedValues } = runtime;

  async function knownTime(channelId: string): Promise<string | undefined> {
    const key = publishedKey(channelId);
    const stored = await store.get(key);
    if (stored === undefined || isPublishedAt(stored.value)) return stored?.value;
    refusedValues.inc({ kind: 'published' });
    return undefined;
  }

  async function findInBackground(channelId: string, onFound: (publishedAt: string) => Promise<void>): Promise<void> {
    try {
      const publishedAt = await sources.findPublishedAt(channelId);
      if (publishedAt === null) return;
      await store.set(publishedKey(channelId), { value: publishedAt, storedAtMs: clock.now() }, FOR_GOOD_MS);
      await onFound(publishedAt);
    } catch (error) {
      logger.debug({ err: error }, 'the exact creation time of a channel could not be loaded');
    }
  }

  return {
    async complete(channel, onFound) {
      if (isExact(channel.publishedAt)) return channel;
      const known = await knownTime(channel.channelId);
      if (known !== undefined) return { ...channel, publishedAt: known };
      void findInBackground(channel.channelId, onFound);
      return channel;
    },
  };
}

/** False if nothing or only the day is known. */
export function isExact(publishedAt: string | null): boolean {
  return publishedAt !== null && !publishedAt.endsWith(DAY_ONLY);
}
