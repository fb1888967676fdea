import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { codeOf } from '../../test/helpers/failure.ts';
import {
  createStub,
  ID,
  live,
  NEVER_PAUSED,
  numberedChannelId,
  over,
  type Reply,
  record,
  type Stub,
} from '../../test/helpers/fake-source.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import { createPause } from '../lib/http/pause.ts';
import type { SourceOutcome } from './failover.ts';
import type { LoadedChannel } from './source.ts';

describe('a channel from several sources', () => {
  it('is the first that is found, and later sources are not called', async () => {
    const second = createStub(live(record({ title: 'second' })));
    const found = await over([live(record({ title: 'first' })), second]).getChannel(ID);
    expect(found.channel.title).toBe('first');
    expect(second.calls).toBe(0);
  });

  it.each<[string, Stub[], string]>([
    ['first says no, which is final', [live('channel_not_found'), live(record())], 'channel_not_found'],
    ['first is indeterminate, second finds', [live('upstream_invalid'), live(record())], 'found'],
    [
      'first is indeterminate, second says no',
      [live('upstream_invalid'), live('channel_not_found')],
      'channel_not_found',
    ],
    ['time-out, unavailable', [live('upstream_timeout'), live('upstream_unavailable')], 'upstream_unavailable'],
    ['invalid, time-out', [live('upstream_invalid'), live('upstream_timeout')], 'upstream_timeout'],
    ['a bug', [live(new TypeError('a bug')), live(record())], 'TypeError: a bug'],
  ])('%s', async (_name, stubs, expected) => {
    const failover = over(stubs);
    expect(await codeOf(failover.getChannel(ID))).toBe(expected);
    expect(await codeOf(failover.resolve(channelIdRef(ID)))).toBe(expected);
  });

  it('is an error with a time to retry if no source gives a usable response', async () => {
    await expect(over([live('upstream_timeout')]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 10_000 });
    const told = live(new AppError('upstream_unavailable', 'down', { retryAfterMs: 1_500 }));
    await expect(over([told]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 1_500 });
  });

  it('is loaded from the next source after one attempt at a source that hangs', async () => {
    const hanging = createStub(live('hangs'));
    const clock = createManualClock();
    const found = over([hanging, live(record())], { clock }).getChannel(ID);
    await clock.passTimer(5_000);
    expect((await found).isComplete).toBe(true);
    expect(hanging.signals[0]?.aborted).toBe(true);
  });

  it('is awaited until the time for all sources is over', async () => {
    const clock = createManualClock();
    const last = createStub(live('hangs'));
    const code = codeOf(over([live('hangs'), live('hangs'), last], { clock }).getChannel(ID));
    await clock.passTimer(5_000);
    await clock.passTimer(5_000);
    await vi.waitFor(() => expect(last.calls).toBe(1), WAIT);
    clock.advance(1_999);
    expect(last.signals[0]?.aborted).toBe(false);
    clock.advance(1);
    expect(await code).toBe('upstream_timeout');
  });

  it('is abandoned when the request is aborted', async () => {
    const caller = new AbortController();
    const hanging = createStub(live('hangs'));
    const response = codeOf(over([hanging]).getChannel(ID, { signal: caller.signal }));
    caller.abort();
    expect(await response).toBe('upstream_timeout');
    expect(hanging.signals[0]?.aborted).toBe(true);
  });

  it('is not requested from a source that is paused', async () => {
    const clock = createManualClock();
    const failing = createStub(live('upstream_timeout'));
    const pause = createPause({ clock, label: 'live' });
    const failover = over([failing], { clock, pauseOf: () => pause });
    for (let call = 0; call < 5; call += 1) await codeOf(failover.getChannel(numberedChannelId(call)));
    expect(await codeOf(failover.getChannel(ID))).toBe('upstream_unavailable');
    expect(failing.calls).toBe(5);
    clock.advance(10_000);
    expect(await codeOf(failover.getChannel(ID))).toBe('upstream_timeout');
  });

  it('that fails alone is requested once in 15 s from the failing source, and each time from the others', async () => {
    const clock = createManualClock();
    const failing = createStub(live('upstream_invalid'));
    const second = createStub({ ...live('upstream_invalid'), name: 'second' });
    const pause = createPause({ clock, label: 'live' });
    const failover = over([failing, second], {
      clock,
      pauseOf: ({ name }) => (name === 'live' ? pause : NEVER_PAUSED),
    });
    for (const leftMs of [15_000, 10_000, 5_000]) {
      await expect(failover.getChannel(ID)).rejects.toMatchObject({ code: 'upstream_invalid', retryAfterMs: leftMs });
      clock.advance(5_000);
    }
    expect([failing.calls, second.calls]).toEqual([1, 3]);
    await codeOf(failover.resolve(channelIdRef(ID)));
    await codeOf(failover.getChannel(ID));
    expect(failing.calls).toBe(3);
  });

  it('has a span for each call of a source', async () => {
    const outcomes: SourceOutcome[] = [];
    await over([{ ...live('upstream_invalid'), name: 'first' }, live(record())], {
      onOutcome: (outcome) => outcomes.push(outcome),
    }).getChannel(ID);
    expect(outcomes.map(({ source, operation, outcome }) => [source, operation, outcome])).toEqual([
      ['first', 'getChannel', 'upstream_invalid'],
      ['live', 'getChannel', 'found'],
    ]);
  });
});

describe('a record that lacks fields', () => {
  const partial = live(record({ links: null, country: null }, ['links', 'country']));
  const links = [{ title: 'Site', url: 'https://example.com/' }];

  it('gets its missing fields, and only these, from the next source', async () => {
    const other = { ...live(record({ title: 'Another title', links, country: 'DE' })), name: 'other' };
    const loaded = await over([partial, other]).getChannel(ID);
    expect(loaded).toEqual(record({ links, country: 'DE' }));
  });

  it('still lacks fields that the next source lacks too', async () => {
    const other = { ...live(record({ links: null, country: 'DE' }, ['links'])), name: 'other' };
    const loaded = await over([partial, other]).getChannel(ID);
    expect(loaded).toEqual(record({ links: null, country: 'DE' }, ['links']));
  });

  it('that came with a lookup gets its missing fields too', async () => {
    const other = { ...live(record({ links, country: 'DE' })), name: 'other' };
    const { loaded } = await over([partial, other]).resolve(channelIdRef(ID));
    expect(loaded).toEqual(record({ links, country: 'DE' }));
  });

  it.each<Reply<LoadedChannel>>(['upstream_unavailable', 'channel_not_found', 'hangs'])(
    'is returned unchanged if the next source fails with %s',
    async (response) => {
      const clock = createManualClock();
      const loaded = over([partial, live(response)], { clock }).getChannel(ID);
      if (response === 'hangs') await clock.passTimer(1_500);
      expect(await loaded).toEqual(partial.channel);
    },
  );

  it('gets its links from the next source if its own source never has links', async () => {
    const withoutLinks = live(record({ links: null }));
    const loaded = await over([withoutLinks, live(record({ links }))]).getChannel(ID);
    expect(loaded).toEqual(record({ links }));
  });

  it('of which little is known, such as an age-gated channel, gets everything that the next source has', async () => {
    const known = { ...live(record({ links: null, country: 'DE' })), name: 'other' };
    const loaded = await over([live(record({ links: null, country: null })), known]).getChannel(ID);
    expect(loaded).toEqual({ ...record({ links: null, country: 'DE' }, ['links']), isComplete: true });
  });

  it('gets nothing from another channel to which the next source redirects', async () => {
    // YouTube redirects the "- Topic" channels of some artists to their own channels.
    const target = live(record({ channelId: numberedChannelId(2), links, country: 'DE' }));
    expect(await over([partial, target]).getChannel(ID)).toEqual(partial.channel);
    const loaded = await over([live(record({ links: null })), target]).getChannel(ID);
    expect(loaded).toEqual({ ...record({ links: null }, ['links']), isComplete: true });
  });

  it('counts as complete without links, but names them as missing', async () => {
    const withoutLinks = live(record({ links: null }));
    const loaded = await over([withoutLinks, live('upstream_unavailable')]).getChannel(ID);
    expect(loaded).toEqual({ ...record({ links: null }, ['links']), isComplete: true });
  });

  describe('of two sources', () => {
    const has = { links, country: 'DE' };
    const withoutLinks = record({ ...has, links: null }); // A source whose API has no links.
    const records = {
      everything: record(has),
      'links unsupported': withoutLinks,
      'country unset': record({ ...has, country: null }),
      'links lost': record({ ...has, links: null }, ['links']),
      'country lost': record({ ...has, country: null }, ['country']),
      'both lost': record({ links: null, country: null }, ['links', 'country']),
      'links unsupported, country lost': record({ links: null, country: null }, ['country']),
    };
    type Kind = keyof typeof records;

    it.each<[first: Kind, second: Kind, values: Partial<Channel>, missing: string[], isComplete: boolean]>([
      ['links unsupported', 'everything', has, [], true],
      ['links unsupported', 'links unsupported', { ...has, links: null }, ['links'], true],
      ['links unsupported', 'links lost', { ...has, links: null }, ['links'], true],
      ['links unsupported', 'country lost', has, [], true],
      ['links unsupported', 'both lost', { ...has, links: null }, ['links'], true],
      ['links lost', 'everything', has, [], true],
      ['links lost', 'links unsupported', { ...has, links: null }, ['links'], false],
      ['links lost', 'links lost', { ...has, links: null }, ['links'], false],
      ['links lost', 'country lost', has, [], true],
      ['country lost', 'everything', has, [], true],
      ['country lost', 'links unsupported', has, [], true],
      ['country lost', 'country unset', { ...has, country: null }, [], true],
      ['country lost', 'country lost', { ...has, country: null }, ['country'], false],
      ['both lost', 'everything', has, [], true],
      ['both lost', 'links lost', { ...has, links: null }, ['links'], false],
      ['both lost', 'country lost', { ...has, country: null }, ['country'], false],
      ['links unsupported, country lost', 'everything', has, [], true],
      ['links unsupported, country lost', 'links unsupported', { ...has, links: null }, ['links'], true],
      ['links unsupported, country lost', 'country lost', { ...has, country: null }, ['country'], false],
    ])('the first with %s, the second with %s', async (first, second, values, missing, isComplete) => {
      const stubs = [live(records[first]), { ...live(records[second]), name: 'second' }];
      const loaded = await over(stubs).getChannel(ID);
      expect(loaded.channel).toEqual(record(values).channel);
      expect([loaded.missing, loaded.isComplete]).toEqual([missing, isComplete]);
    });
  });

  it('is not completed if it has every field', async () => {
    const other = createStub(live(record()));
    await over([live(record()), other]).getChannel(ID);
    expect(other.calls).toBe(0);
  });
});
