import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, numberedSource } from '../../test/helpers/fake-source.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { CACHE_POLICY, type ChannelEntry } from '../cache/policy.ts';
import type { Store, StoredEntry } from '../cache/store.ts';
import { AppError } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { LoadedChannel, Resolution } from '../sources/source.ts';
import { createCachedChannels } from './cached-channels.ts';
import { type ChannelService, createChannelService } from './channels.ts';

const HOUR_MS = 3_600_000;
const [HANDLE, OTHER_HANDLE] = [handleRef('first'), handleRef('second')];
const BLOCKED = idOf(99);

let clock: ManualClock;
let stored: Map<string, StoredEntry>;
/** The calls to the sources, in order. */
let asked: string[];
let getChannel: (channelId: string) => Promise<LoadedChannel>;
let resolve: () => Promise<Resolution>;
let channels: ChannelService;

beforeEach(() => {
  clock = createManualClock();
  stored = new Map();
  asked = [];
  getChannel = load;
  resolve = async () => ({ channelId: idOf(1) });
  start();
});

/** Like a restart of the process, which keeps stored values. */
function start(blocked: readonly string[] = [BLOCKED]): void {
  const blockedChannels = new Set(blocked);
  const store: Store = {
    ...memoryStore(),
    get: async (key) => stored.get(key),
    set: async (key, entry) => void stored.set(key, entry),
  };
  const cached = createCachedChannels({
    sources: {
      resolve(ref) {
        asked.push(`@${ref.value}`);
        return resolve();
      },
      getChannel(channelId) {
        asked.push(channelId);
        return getChannel(channelId);
      },
    },
    records: testCache<ChannelEntry>(CACHE_POLICY.records, { store, clock }),
    names: testCache<string>(CACHE_POLICY.names, { store, clock }),
    blockedChannels,
    clock,
  });
  channels = createChannelService({ catalog: undefined, cached, blockedChannels, clock });
}

function load(channelId: string, fields: object = {}): Promise<LoadedChannel> {
  const signal = new AbortController().signal;
  return numberedSource()
    .getChannel(channelId, { signal })
    .then((loaded) => ({ ...loaded, channel: { ...loaded.channel, ...fields } }));
}

const getById = async (number: number) => (await channels.getChannel([channelIdRef(idOf(number))])).channel;

describe('a channel that moved', () => {
  /** Each ID redirects to the next one, up to the last. */
  function moveUpTo(last: number): void {
    const numberOf = (channelId: string) => Number(channelId.slice(2));
    getChannel = (channelId) => load(idOf(Math.min(numberOf(channelId) + 1, last)));
  }

  /** Stores every move as if each had been requested at its time. */
  async function storeMoves(last: number): Promise<void> {
    for (let number = 1; number < last; number += 1) {
      getChannel = () => load(idOf(number + 1));
      await channels.reload(idOf(number));
    }
  }

  it('is found under its new ID', async () => {
    moveUpTo(2);
    expect((await getById(1)).channelId).toBe(idOf(2));
    expect(asked).toEqual([idOf(1)]);
  });

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
  it('is resolved again after an hour, and may then belong to another channel', async () => {
    const idByName = async () => (await channels.getChannel([HANDLE])).channel.channelId;
    expect(await idByName()).toBe(idOf(1));
    resolve = async () => ({ channelId: idOf(2) });
    clock.advance(HOUR_MS - 1);
    expect(await idByName()).toBe(idOf(1));
    clock.advance(1);
    expect(await idByName()).toBe(idOf(2));
  });

  it('is resolved together with its record, which is not loaded again', async () => {
    resolve = async () => ({ channelId: idOf(1), loaded: await load(idOf(1)) });
    await channels.getChannel([HANDLE]);
    await getById(1);
    expect(asked).toEqual(['@first']);
  });

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

describe('a stored record', () => {
  it('is not shown once its channel is blocked', async () => {
    await getById(1);
    start([idOf(1)]);
    await expect(getById(1)).rejects.toMatchObject({ code: 'channel_blocked' });
  });

  it('keeps its age across a restart', async () => {
    await getById(1);
    clock.advance(HOUR_MS / 2);
    start();
    const { outcome } = await channels.getChannel([channelIdRef(idOf(1))]);
    expect(outcome).toMatchObject({ kind: 'hit', ttlMs: HOUR_MS / 2 });
  });

  it('is reloaded for a record, and returned at once for an image', async () => {
    await getById(1);
    clock.advance(HOUR_MS);
    const loading = Promise.withResolvers<LoadedChannel>();
    getChannel = () => loading.promise;
    expect((await channels.getChannel([channelIdRef(idOf(1))], 0)).outcome.kind).toBe('stale');
    const anew = getById(1);
    loading.resolve(await load(idOf(1), { title: 'A new title' }));
    expect((await anew).title).toBe('A new title');
  });

  it('is stale if only the name that led to it is stale', async () => {
    await channels.getChannel([HANDLE]);
    clock.advance(HOUR_MS);
    await getById(1);
    resolve = () => Promise.reject(new AppError('upstream_unavailable', 'refused'));
    const { outcome } = await channels.getChannel([HANDLE]);
    expect(outcome).toMatchObject({ kind: 'stale', reason: 'upstream_unavailable' });
  });

  it('keeps its values for a minute if the next response lacks its panel', async () => {
    getChannel = (channelId) => load(channelId, { country: 'IS', description: 'Full' });
    await getById(1);
    clock.advance(HOUR_MS);
    getChannel = async (channelId) => ({
      ...(await load(channelId, { country: null, description: 'New' })),
      isComplete: false,
      missing: ['country'],
    });
    const { channel, outcome } = await channels.getChannel([channelIdRef(idOf(1))]);
    expect(channel).toMatchObject({ country: 'IS', description: 'New' });
    expect(outcome).toMatchObject({ ttlMs: 60_000, isStored: true });
  });
});
