import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, testChannel } from '../../test/helpers/fake-source.ts';
import { CACHE_POLICY, type RecordOrRedirect } from '../cache/values.ts';
import { AppError } from '../domain/errors.ts';
import { type ChannelRef, channelIdRef, findHandle, findUsername, nameOf } from '../domain/identifier.ts';
import { createCachedChannels } from './cached-channels.ts';
import { type ChannelService, createChannelService } from './channels.ts';

/* The order of look-ups in the catalog and the source. */

const HOUR_MS = 3_600_000;
const [HANDLE, USERNAME] = [findHandle('name') as ChannelRef, findUsername('name') as ChannelRef];
const BLOCKED = idOf(99);

let clock: ManualClock;
/** IDs of channels by reference. */
let own: Map<string, string>;
/** The same for the only source. It throws the errors among them. */
let live: Map<string, string | AppError>;
/** All look-ups, in order. */
let asked: string[];
let channels: ChannelService;

beforeEach(() => {
  clock = createManualClock();
  [own, live, asked] = [new Map(), new Map(), []];
  channels = start();
});

function start({ hasSource = true } = {}): ChannelService {
  async function find(ref: ChannelRef) {
    asked.push(`own ${nameOf(ref)}`);
    const channelId = own.get(nameOf(ref));
    return channelId === undefined ? undefined : testChannel(channelId, { title: 'own' });
  }

  async function load(ref: ChannelRef) {
    asked.push(`live ${nameOf(ref)}`);
    const found = live.get(nameOf(ref)) ?? new AppError('channel_not_found', 'none');
    if (found instanceof AppError) throw found;
    return { channel: testChannel(found, { title: 'live' }), isComplete: true, missing: [] };
  }

  const tiers = { clock, store: memoryStore() };
  const blockedChannels = new Set([BLOCKED]);
  const cached = createCachedChannels({
    sources: {
      resolve: async (ref) => ({ channelId: (await load(ref)).channel.channelId }),
      getChannel: (channelId) => load(channelIdRef(channelId)),
    },
    records: testCache<RecordOrRedirect | null>(CACHE_POLICY.records, tiers),
    names: testCache<string | null>(CACHE_POLICY.names, tiers),
    blockedChannels,
    clock,
  });
  const catalog = { version: () => 0, find, findAnew: find };
  return createChannelService({ catalog, cached: hasSource ? cached : undefined, blockedChannels });
}

const get = async (...refs: ChannelRef[]) => {
  const { channel, outcome } = await channels.getChannel(refs);
  return { id: channel.channelId, title: channel.title, ...outcome };
};

describe('a channel', () => {
  it('of the catalog is found without a call to the source', async () => {
    own.set(nameOf(HANDLE), idOf(1));
    expect(await get(HANDLE)).toMatchObject({ id: idOf(1), title: 'own', kind: 'catalog', ttlMs: HOUR_MS });
    expect(asked).toEqual(['own handle:name']);
  });

  it('of the catalog does not come before a cached one that an earlier reference names', async () => {
    own.set(nameOf(USERNAME), idOf(1));
    live.set(nameOf(HANDLE), idOf(2)).set(`id:${idOf(2)}`, idOf(2));
    expect(await get(HANDLE, USERNAME)).toMatchObject({ id: idOf(2), title: 'live' });
    live.delete(nameOf(HANDLE));
    clock.advance(HOUR_MS);
    asked = [];
    expect(await get(HANDLE, USERNAME)).toMatchObject({ id: idOf(1), title: 'own' });
    // The record of the channel that had the handle confirms that it has lost it.
    expect(asked).toEqual(['own handle:name', 'live handle:name', `live id:${idOf(2)}`, 'own username:name']);
  });

  it('of the catalog is found by the ID that a cached name or redirect leads to', async () => {
    own.set(`id:${idOf(3)}`, idOf(3));
    live.set(nameOf(HANDLE), idOf(3)).set(`id:${idOf(2)}`, idOf(3));
    for (const ref of [HANDLE, channelIdRef(idOf(2))]) {
      expect(await get(ref)).toMatchObject({ id: idOf(3), title: 'own', kind: 'catalog' });
      expect((await channels.getCachedChannel(ref))?.channel.title).toBe('own');
    }
  });
});

describe('without a source', () => {
  it('the catalog alone decides that there is no such channel, for a minute, even if a record is stored', async () => {
    live.set(`id:${idOf(1)}`, idOf(1));
    await get(channelIdRef(idOf(1)));
    channels = start({ hasSource: false });
    for (const ref of [HANDLE, channelIdRef(idOf(1))]) {
      const notFound = { code: 'channel_not_found', validForMs: 60_000, outcome: { kind: 'catalog' } };
      await expect(get(ref)).rejects.toMatchObject(notFound);
      await expect(channels.getCachedChannel(ref)).rejects.toMatchObject({ code: 'channel_not_found' });
    }
  });
});
