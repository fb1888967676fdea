import type { Channel } from '../../src/domain/channel.ts';
import { AppError } from '../../src/domain/errors.ts';
import { compactCopy } from '../../src/lib/compact-copy.ts';
import type { ChannelSource } from '../../src/sources/source.ts';

/** The ID of the test channel with this number. */
export function numberedChannelId(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

/** A channel with every field; those that the test does not name are unknown. */
function testChannel(channelId: string, fields: Partial<Channel> = {}): Channel {
  return {
    channelId,
    title: `Channel ${channelId}`,
    description: null,
    customUrl: null,
    publishedAt: null,
    country: null,
    subscriberCount: null,
    viewCount: null,
    videoCount: null,
    links: null,
    banner: null,
    avatar: null,
    ...fields,
  };
}

function notFound(): never {
  throw new AppError('channel_not_found', 'There is no such channel.');
}

/** A live source that has a channel with pictures for every ID, and finds nothing by handle or search. */
export function numberedSource(): ChannelSource {
  return {
    name: 'numbered',
    isLive: true,
    resolve: async () => notFound(),
    async getChannel(requestedId) {
      // A copy, as if read from a response: the requested ID may be a part of a long URL, which it would keep in memory.
      const channelId = compactCopy(requestedId);
      const picture = { kind: 'remote', key: channelId, urls: [] } as const;
      const channel = testChannel(channelId, { links: [], banner: picture, avatar: picture, subscriberCount: '1' });
      return { channel, isComplete: true, missing: [] };
    },
    search: async () => ({ hits: [] }),
    close: async () => undefined,
  };
}

/** A live source of one channel whose title the test sets, and whose responses it can hold back. */
export interface HeldSource extends ChannelSource {
  title: string;
  /** From now on responses wait. Each has the values of the time of its call. */
  hold(): HeldResponses;
}

export interface HeldResponses {
  /** Resolves with the first call. */
  readonly asked: Promise<void>;
  release(): void;
}

export const HELD_CHANNEL_ID = 'UCheld_________________A';
export const HELD_HANDLE = 'held';

/** @param avatar of the channel; none without it */
export function createHeldSource(avatar: Channel['avatar'] = null): HeldSource {
  let held: { asked: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined;

  async function respond<T>(value: T): Promise<T> {
    held?.asked.resolve();
    await held?.released.promise;
    return value;
  }

  function loaded() {
    const fields = { customUrl: `@${HELD_HANDLE}`, publishedAt: '2014-05-17T09:30:00Z', avatar };
    return { channel: testChannel(HELD_CHANNEL_ID, { title: source.title, ...fields }), isComplete: true, missing: [] };
  }

  const source: HeldSource = {
    name: 'held',
    isLive: true,
    title: 'old title',
    hold() {
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { asked, released };
      return {
        asked: asked.promise,
        release() {
          held = undefined;
          released.resolve();
        },
      };
    },
    resolve: async ({ key }) =>
      key === HELD_HANDLE ? respond({ channelId: HELD_CHANNEL_ID, loaded: loaded() }) : notFound(),
    getChannel: async (channelId) => (channelId === HELD_CHANNEL_ID ? respond(loaded()) : notFound()),
    async search() {
      const { channelId, title, description, customUrl, subscriberCount, videoCount } = loaded().channel;
      const hit = { channelId, title, description, customUrl, subscriberCount, videoCount };
      return respond({ hits: [{ ...hit, banner: 'absent', avatar: 'present' }] });
    },
    async close() {},
  };
  return source;
}
