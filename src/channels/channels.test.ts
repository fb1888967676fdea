import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId as idOf, testChannel } from '../../test/helpers/fake-source.ts';
import { CACHE_POLICY, type RecordOrRedirect } from '../cache/values.ts';
import { AppError } from '../domain/errors.ts';
import { findHandle, findUsername, type Identifier, identifierKey, identifierOfId } from '../domain/identifier.ts';
import { createCachedChannels } from './cached-channels.ts';
import { type ChannelService, createChannelService } from './channels.ts';

const HOUR_MS = 3_600_000;
const [HANDLE, USERNAME] = [findHandle('name') as Identifier, findUsername('name') as Identifier];
const BLOCKED = idOf(99);

let clock: ManualClock;
let stored: Map<string, string>;
/** IDs of the catalog's channels by identifier. */
let own: Map<string, string>;
/** The same for the only source. */
let live: Map<string, string>;
/** All look-ups in the catalog and the source, in order. */
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
    const channelId = live.get(identifierKey(identifier));
    if (channelId === undefined) throw new AppError('channel_not_found', 'none');
    return { channel: testChannel(channelId, { title: 'live' }), isComplete: true, missing: [] };
  }

  const store = memoryStore();
  stored = store.entries;
  const blockedChannels = new Set([BLOCKED]);
  const cached = createCachedChannels({
    sources: {
      async resolve(identifier) {
        const loaded = await load(identifier);
        return { channelId: loaded.channel.channelId, loaded };
      },
      getChannel: (channelId) => load(identifierOfId(channelId)),
    },
    records: testCache<RecordOrRedirect | null>(CACHE_POLICY.records, { clock, store }),
    names: testCache<string | null>(CACHE_POLICY.names, { clock, store }),
    blockedChannels,
    clock,
  });
  return createChannelService({ catalog: { find }, cached: hasSource ? cached : undefined, blockedChannels });
}

const get = async (...identifiers: Identifier[]) => {
  const { channel, outcome } = await channels.getChannel(identifiers);
  return { id: channel.channelId, title: channel.title, ...outcome };
};

describe('a channel of the catalog', () => {
  it('is found without a call to the source', async () => {
    own.set(identifierKey(HANDLE), idOf(1));
    expect(await get(HANDLE)).toMatchObject({ id: idOf(1), title: 'own', kind: 'catalog', ttlMs: HOUR_MS });
    expect(asked).toEqual(['own handle:name']);
  });

  it('does not come before a cached one that an earlier identifier names', async () => {
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

  it('is found by the ID that a cached name or redirect leads to', async () => {
    own.set(`id:${idOf(3)}`, idOf(3));
    live.set(identifierKey(HANDLE), idOf(3)).set(`id:${idOf(2)}`, idOf(3));
    for (const identifier of [HANDLE, identifierOfId(idOf(2))]) {
      expect(await get(identifier)).toMatchObject({ id: idOf(3), title: 'own', kind: 'catalog' });
      expect((await channels.getCachedChannel(identifier))?.channel.title).toBe('own');
    }
  });
});

it('without a source, the catalog alone decides that there is no such channel, for a minute, even if a record is stored', async () => {
  live.set(`id:${idOf(1)}`, idOf(1));
  await get(identifierOfId(idOf(1)));
  channels = start({ hasSource: false });
  for (const identifier of [HANDLE, identifierOfId(idOf(1))]) {
    const notFound = { code: 'channel_not_found', validForMs: 60_000, outcome: { kind: 'catalog' } };
    await expect(get(identifier)).rejects.toMatchObject(notFound);
    await expect(channels.getCachedChannel(identifier)).rejects.toMatchObject({ code: 'channel_not_found' });
  }
});

it('a channel that moved is followed at most three times', async () => {
  // Every move is stored as if each had been requested at its time.
  for (const number of [1, 2, 3, 4]) {
    live.set(`id:${idOf(number)}`, idOf(number + 1)).set(`id:${idOf(number + 1)}`, idOf(number + 1));
    await channels.expire(await channels.getChannel([identifierOfId(idOf(number))]));
  }
  expect(await get(identifierOfId(idOf(2)))).toMatchObject({ id: idOf(5) });
  await expect(get(identifierOfId(idOf(1)))).rejects.toMatchObject({ code: 'upstream_invalid' });
});

it.each([identifierOfId(idOf(1)), HANDLE])(
  'a blocked channel is neither shown nor stored if $kind leads to it',
  async (identifier) => {
    live.set(identifierKey(identifier), BLOCKED);
    await expect(get(identifier)).rejects.toMatchObject({ code: 'channel_blocked' });
    expect(stored.size).toBe(0);
  },
);
