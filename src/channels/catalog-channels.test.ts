import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, testChannel } from '../../test/helpers/fake-source.ts';
import { CACHE_POLICY, type RecordOrRedirect } from '../cache/values.ts';
import { AppError } from '../domain/errors.ts';
import { findHandle, findUsername, type Identifier, identifierKey, identifierOfId } from '../domain/identifier.ts';
import { createCachedChannels } from './cached-channels.ts';
import { type ChannelService, createChannelService } from './channels.ts';

/* The order of look-ups in the catalog and the source. */

const HOUR_MS = 3_600_000;
const [HANDLE, USERNAME] = [findHandle('name') as Identifier, findUsername('name') as Identifier];
const BLOCKED = idOf(99);

let clock: ManualClock;
/** IDs of channels by identifier. */
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
  async function find(identifier: Identifier) {
    asked.push(`own ${identifierKey(identifier)}`);
    const channelId = own.get(identifierKey(identifier));
    return channelId === undefined ? undefined : testChannel(channelId, { title: 'own' });
  }

  async function load(identifier: Identifier) {
    asked.push(`live ${identifierKey(identifier)}`);
    const found = live.get(identifierKey(identifier)) ?? new AppError('channel_not_found', 'none');
    if (found instanceof AppError) throw found;
    return { channel: testChannel(found, { title: 'live' }), isComplete: true, missing: [] };
  }

  const tiers = { clock, store: memoryStore() };
  const blockedChannels = new Set([BLOCKED]);
  const cached = createCachedChannels({
    sources: {
      resolve: async (identifier) => ({ channelId: (await load(identifier)).channel.channelId }),
      getChannel: (channelId) => load(identifierOfId(channelId)),
    },
    records: testCache<RecordOrRedirect | null>(CACHE_POLICY.records, tiers),
    names: testCache<string | null>(CACHE_POLICY.names, tiers),
    blockedChannels,
    clock,
  });
  const catalog = { version: () => 0, find, findAnew: find };
  return createChannelService({ catalog, cached: hasSource ? cached : undefined, blockedChannels });
}

const get = async (...identifiers: Identifier[]) => {
  const { channel, outcome } = await channels.getChannel(identifiers);
  return { id: channel.channelId, title: channel.title, ...outcome };
};

describe('a channel', () => {
  it('of the catalog is found without a call to the source', async () => {
    own.set(identifierKey(HANDLE), idOf(1));
    expect(await get(HANDLE)).toMatchObject({ id: idOf(1), title: 'own', kind: 'catalog', ttlMs: HOUR_MS });
    expect(asked).toEqual(['own handle:name']);
  });

  it('of the catalog does not come before a cached one that an earlier identifier names', async () => {
    own.set(identifierKey(USERNAME), idOf(1));
    live.set(identifierKey(HANDLE), idOf(2)).set(`id:${idOf(2)}`, idOf(2));
    expect(await get(HANDLE, USERNAME)).toMatchObject({ id: idOf(2), title: 'live' });
    live.delete(identifierKey(HANDLE));
    clock.advance(HOUR_MS);
    asked = [];
    expect(await get(HANDLE, USERNAME)).toMatchObject({ id: idOf(1), title: 'own' });
    // The record of the channel that had the handle confirms that it has lost it.
    expect(asked).toEqual(['own handle:name', 'live handle:name', `live id:${idOf(2)}`, 'own username:name']);
  });

  it('of the catalog is found by the ID that a cached name or redirect leads to', async () => {
    own.set(`id:${idOf(3)}`, idOf(3));
    live.set(identifierKey(HANDLE), idOf(3)).set(`id:${idOf(2)}`, idOf(3));
    for (const identifier of [HANDLE, identifierOfId(idOf(2))]) {
      expect(await get(identifier)).toMatchObject({ id: idOf(3), title: 'own', kind: 'catalog' });
      expect((await channels.getCachedChannel(identifier))?.channel.title).toBe('own');
    }
  });
});

describe('without a source', () => {
  it('the catalog alone decides that there is no such channel, for a minute, even if a record is stored', async () => {
    live.set(`id:${idOf(1)}`, idOf(1));
    await get(identifierOfId(idOf(1)));
    channels = start({ hasSource: false });
    for (const identifier of [HANDLE, identifierOfId(idOf(1))]) {
      const notFound = { code: 'channel_not_found', validForMs: 60_000, outcome: { kind: 'catalog' } };
      await expect(get(identifier)).rejects.toMatchObject(notFound);
      await expect(channels.getCachedChannel(identifier)).rejects.toMatchObject({ code: 'channel_not_found' });
    }
  });
});
