import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, numberedSource } from '../../test/helpers/fake-source.ts';
import { handleIdentifier } from '../../test/helpers/handle.ts';
import type { Store } from '../cache/store.ts';
import { CACHE_POLICY, type RecordOrRedirect } from '../cache/values.ts';
import { AppError } from '../domain/errors.ts';
import { identifierOfId } from '../domain/identifier.ts';
import type { LoadedChannel, Resolution } from '../sources/source.ts';
import { createCachedChannels } from './cached-channels.ts';
import { type ChannelService, createChannelService } from './channels.ts';

const [HANDLE, OTHER_HANDLE] = [handleIdentifier('first'), handleIdentifier('second')];
const BLOCKED = idOf(99);

let clock: ManualClock;
let stored: Map<string, string>;
let getChannel: (channelId: string) => Promise<LoadedChannel>;
let resolve: () => Promise<Resolution>;
let channels: ChannelService;

beforeEach(() => {
  clock = createManualClock();
  stored = new Map();
  getChannel = load;
  resolve = async () => ({ channelId: idOf(1) });
  start();
});

function start(): void {
  const blockedChannels = new Set([BLOCKED]);
  const store: Store = {
    ...memoryStore(),
    get: async (key) => stored.get(key),
    set: async (key, text) => void stored.set(key, text),
  };
  const cached = createCachedChannels({
    sources: {
      resolve: () => resolve(),
      getChannel: (channelId) => getChannel(channelId),
    },
    records: testCache<RecordOrRedirect | null>(CACHE_POLICY.records, { store, clock }),
    names: testCache<string | null>(CACHE_POLICY.names, { store, clock }),
    blockedChannels,
    clock,
  });
  channels = createChannelService({ catalog: undefined, cached, blockedChannels });
}

function load(channelId: string): Promise<LoadedChannel> {
  return numberedSource().getChannel(channelId, { signal: new AbortController().signal });
}

const getById = async (number: number) => (await channels.getChannel([identifierOfId(idOf(number))])).channel;

describe('a channel that moved', () => {
  /** Stores every move as if each had been requested at its time. */
  async function storeMoves(last: number): Promise<void> {
    for (let number = 1; number < last; number += 1) {
      getChannel = () => load(idOf(number + 1));
      await channels.getChannel([identifierOfId(idOf(number))], { newerThanMs: Infinity });
    }
  }

  it('is followed at most three times', async () => {
    await storeMoves(5);
    expect((await getById(2)).channelId).toBe(idOf(5));
    await expect(getById(1)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('to a blocked channel is neither shown nor stored', async () => {
    getChannel = () => load(BLOCKED);
    await expect(getById(1)).rejects.toMatchObject({ code: 'channel_blocked' });
    expect(stored.size).toBe(0);
  });
});

describe('a name', () => {
  it('of a blocked channel is neither shown nor stored', async () => {
    resolve = async () => ({ channelId: BLOCKED, loaded: await load(BLOCKED) });
    await expect(channels.getChannel([HANDLE])).rejects.toMatchObject({ code: 'channel_blocked' });
    expect(stored.size).toBe(0);
  });

  it('is skipped for the next one only after a definite "no such channel"', async () => {
    const failures = [new AppError('channel_not_found', 'none'), new AppError('upstream_timeout', 'late')];
    resolve = async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return { channelId: idOf(1) };
    };
    await expect(channels.getChannel([HANDLE, OTHER_HANDLE])).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect((await channels.getChannel([HANDLE, OTHER_HANDLE])).channel.channelId).toBe(idOf(1));
  });
});
