import type { Channel } from '../../src/domain/channel.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { ChannelSource, LoadedChannel } from '../../src/sources/source.ts';

/** A live source of one channel whose title the test sets, and whose answers it can hold back. */
export interface HeldSource extends ChannelSource {
  title: string;
  /** From now on answers wait, each with what was true when it was asked for. */
  hold(): HeldAnswers;
}

export interface HeldAnswers {
  /** Settles when the source was asked. */
  readonly asked: Promise<void>;
  release(): void;
}

export const HELD_CHANNEL_ID = 'UCheld_________________A';
export const HELD_HANDLE = 'held';

/** @param avatar of the channel; none without it */
export function createHeldSource(avatar: Channel['avatar'] = null): HeldSource {
  let held: { asked: PromiseWithResolvers<void>; released: Promise<void> } | undefined;

  function channel(): Channel {
    return {
      channelId: HELD_CHANNEL_ID,
      title: source.title,
      description: null,
      customUrl: `@${HELD_HANDLE}`,
      publishedAt: '2014-05-17T09:30:00Z',
      country: null,
      subscriberCount: null,
      viewCount: null,
      videoCount: null,
      links: null,
      banner: null,
      avatar,
    };
  }

  async function answer<T>(value: T): Promise<T> {
    held?.asked.resolve();
    await held?.released;
    return value;
  }

  function loaded(): LoadedChannel {
    return { channel: channel(), isComplete: true, missing: [] };
  }

  const source: HeldSource = {
    name: 'held',
    isLive: true,
    title: 'old title',
    hold() {
      const asked = Promise.withResolvers<void>();
      const { promise: released, resolve } = Promise.withResolvers<void>();
      held = { asked, released };
      return {
        asked: asked.promise,
        release() {
          held = undefined;
          resolve();
        },
      };
    },
    async resolve({ key }) {
      if (key !== HELD_HANDLE) throw new AppError('channel_not_found', 'There is no such channel.');
      return answer({ channelId: HELD_CHANNEL_ID, loaded: loaded() });
    },
    async getChannel(channelId) {
      if (channelId !== HELD_CHANNEL_ID) throw new AppError('channel_not_found', 'There is no such channel.');
      return answer(loaded());
    },
    async search() {
      const { channelId, title, description, customUrl, subscriberCount, videoCount } = channel();
      const hit = { channelId, title, description, customUrl, subscriberCount, videoCount };
      return answer({ hits: [{ ...hit, banner: 'absent', avatar: 'present' }] });
    },
    async close() {},
  };
  return source;
}
