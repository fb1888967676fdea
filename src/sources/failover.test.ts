import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import type { Channel, SearchHit } from '../domain/channel.ts';
import { AppError, type ErrorCode } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import { QuotaSpentError } from '../lib/http/call-budget.ts';
import { createCircuitBreaker } from '../lib/http/circuit-breaker.ts';
import { createFailover, type Failover, type FailoverOptions, type SourceOutcome } from './failover.ts';
import type { ChannelSource, LoadedChannel, SearchPage } from './source.ts';

const ID = 'UCPennantSample00000001A';

const CHANNEL: Channel = {
  channelId: ID,
  title: 'A channel',
  description: '',
  customUrl: '@channel',
  publishedAt: null,
  country: null,
  subscriberCount: '1',
  viewCount: '2',
  videoCount: '3',
  links: [],
  banner: null,
  avatar: null,
};

function record(changes: Partial<Channel> = {}, missing: (keyof Channel)[] = [], isComplete = missing.length === 0) {
  return { channel: { ...CHANNEL, ...changes }, isComplete, missing } satisfies LoadedChannel;
}

function hit(channelId: string, title = channelId): SearchHit {
  return {
    channelId,
    title,
    description: null,
    customUrl: null,
    subscriberCount: null,
    videoCount: null,
    banner: 'unknown',
    avatar: 'unknown',
  };
}

type Answer<T> = T | ErrorCode | 'hangs' | Error;

interface Stub {
  readonly name?: string;
  readonly isLive?: boolean;
  readonly channel?: Answer<LoadedChannel>;
  readonly hits?: Answer<SearchHit[]>;
  readonly retryAfterMs?: number;
}

/** A source that gives one answer; "hangs" never settles, whatever its signal says. */
function createStub(stub: Stub): ChannelSource & { calls: number; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const give = <T>(answer: Answer<T> | undefined, signal: AbortSignal): Promise<T> => {
    source.calls += 1;
    signals.push(signal);
    if (answer === 'hangs') return new Promise(() => undefined);
    if (answer instanceof Error) return Promise.reject(answer);
    const { retryAfterMs } = stub;
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (typeof answer === 'string') return Promise.reject(new AppError(answer as ErrorCode, answer, options));
    return Promise.resolve(answer as T);
  };
  const source = {
    name: stub.name ?? 'stub',
    isLive: stub.isLive ?? true,
    calls: 0,
    signals,
    resolve: (_ref: unknown, { signal }: { signal: AbortSignal }) =>
      give(stub.channel, signal).then((loaded) => ({ channelId: loaded.channel.channelId, loaded })),
    getChannel: (_id: string, { signal }: { signal: AbortSignal }) => give(stub.channel, signal),
    search: (_query: string, _limit: number, { signal }: { signal: AbortSignal }) =>
      give(stub.hits, signal).then((hits) => ({ hits })),
    close: async () => undefined,
  };
  return source;
}

function over(stubs: readonly (Stub | ChannelSource)[], options: Partial<FailoverOptions> = {}): Failover {
  const sources = stubs.map((stub) => ('resolve' in stub ? stub : createStub(stub)));
  return createFailover({ sources, clock: createManualClock(), ...options });
}

const catalog = (channel: Answer<LoadedChannel>): Stub => ({ name: 'catalog', isLive: false, channel });
const live = (channel: Answer<LoadedChannel>): Stub => ({ name: 'live', channel });

async function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'found',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}

describe('a channel from several sources', () => {
  it('is the first that is found, and later sources are not asked', async () => {
    const second = createStub(live(record({ title: 'second' })));
    const found = await over([catalog(record({ title: 'first' })), second]).getChannel(ID);
    expect(found.channel.title).toBe('first');
    expect(second.calls).toBe(0);
  });

  it.each<[string, Stub[], string]>([
    ['not in the catalog, found live', [catalog('channel_not_found'), live(record())], 'found'],
    ['not in the catalog, not live', [catalog('channel_not_found'), live('channel_not_found')], 'channel_not_found'],
    [
      'not in the catalog, live cannot tell',
      [catalog('channel_not_found'), live('upstream_timeout')],
      'upstream_timeout',
    ],
    ['not in the only catalog', [catalog('channel_not_found')], 'channel_not_found'],
    ['not live, which is final', [live('channel_not_found'), live(record())], 'channel_not_found'],
    ['first cannot tell, second finds', [live('upstream_invalid'), live(record())], 'found'],
    ['first cannot tell, second says no', [live('upstream_invalid'), live('channel_not_found')], 'channel_not_found'],
    ['time-out, unavailable', [live('upstream_timeout'), live('upstream_unavailable')], 'upstream_unavailable'],
    ['invalid, time-out', [live('upstream_invalid'), live('upstream_timeout')], 'upstream_timeout'],
    [
      'live cannot tell, not in a later catalog',
      [live('upstream_invalid'), catalog('channel_not_found')],
      'upstream_invalid',
    ],
    ['a bug', [live(new TypeError('a bug')), live(record())], 'TypeError: a bug'],
  ])('%s', async (_name, stubs, expected) => {
    const failover = over(stubs);
    expect(await codeOf(failover.getChannel(ID))).toBe(expected);
    expect(await codeOf(failover.resolve(channelIdRef(ID)))).toBe(expected);
  });

  it('that nobody could tell says when to ask again', async () => {
    await expect(over([live('upstream_timeout')]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 10_000 });
    const told = { ...live('upstream_unavailable'), retryAfterMs: 1_500 };
    await expect(over([told]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 1_500 });
  });

  it('is not waited for longer than one attempt when another source is there', async () => {
    const hanging = createStub(live('hangs'));
    const clock = createManualClock();
    const found = over([hanging, live(record())], { clock }).getChannel(ID);
    await clock.passTimer(5_000);
    expect((await found).isComplete).toBe(true);
    expect(hanging.signals[0]?.aborted).toBe(true);
  });

  it('is not waited for longer than the request may take', async () => {
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

  it('is given up with its caller', async () => {
    const caller = new AbortController();
    const hanging = createStub(live('hangs'));
    const answer = codeOf(over([hanging]).getChannel(ID, { signal: caller.signal }));
    caller.abort();
    expect(await answer).toBe('upstream_timeout');
    expect(hanging.signals[0]?.aborted).toBe(true);
  });

  it('is not asked of a source whose breaker is open', async () => {
    const clock = createManualClock();
    const failing = createStub(live('upstream_timeout'));
    const breakers = new Map([['live', createCircuitBreaker({ clock })]]);
    const failover = over([failing], { clock, breakers });
    for (let call = 0; call < 20; call += 1) await codeOf(failover.getChannel(ID));
    expect(await codeOf(failover.getChannel(ID))).toBe('upstream_unavailable');
    expect(failing.calls).toBe(20);
    clock.advance(10_000);
    expect(await codeOf(failover.getChannel(ID))).toBe('upstream_timeout');
  });

  it('that failed by itself is asked of that source once in 15 s, and of the others each time', async () => {
    const clock = createManualClock();
    const failing = createStub(live('upstream_invalid'));
    const second = createStub({ ...live('upstream_invalid'), name: 'second' });
    const breakers = new Map([['live', createCircuitBreaker({ clock })]]);
    const failover = over([failing, second], { clock, breakers });
    for (const leftMs of [15_000, 10_000, 5_000]) {
      await expect(failover.getChannel(ID)).rejects.toMatchObject({ code: 'upstream_invalid', retryAfterMs: leftMs });
      clock.advance(5_000);
    }
    expect([failing.calls, second.calls]).toEqual([1, 3]);
    await codeOf(failover.resolve(channelIdRef(ID)));
    await codeOf(failover.getChannel(ID));
    expect(failing.calls).toBe(3);
  });

  it('leaves a trace of each source that was asked', async () => {
    const outcomes: SourceOutcome[] = [];
    await over([catalog('channel_not_found'), live(record())], {
      onOutcome: (outcome) => outcomes.push(outcome),
    }).getChannel(ID);
    expect(outcomes.map(({ source, operation, outcome }) => [source, operation, outcome])).toEqual([
      ['catalog', 'getChannel', 'channel_not_found'],
      ['live', 'getChannel', 'found'],
    ]);
  });
});

describe('a record that lacks fields', () => {
  const partial = live(record({ links: null, country: null }, ['links', 'country']));
  const links = [{ title: 'Site', url: 'https://example.com/' }];

  it('is completed from the next live source, and only in what it lacks', async () => {
    const other = { ...live(record({ title: 'Another title', links, country: 'DE' })), name: 'other' };
    const loaded = await over([partial, other]).getChannel(ID);
    expect(loaded).toEqual(record({ links, country: 'DE' }));
  });

  it('still lacks what the next source lacks too', async () => {
    const other = { ...live(record({ links: null, country: 'DE' }, ['links'])), name: 'other' };
    const loaded = await over([partial, other]).getChannel(ID);
    expect(loaded).toEqual(record({ links: null, country: 'DE' }, ['links']));
  });

  it('that came with a look-up is completed too', async () => {
    const other = { ...live(record({ links, country: 'DE' })), name: 'other' };
    const { loaded } = await over([partial, other]).resolve(channelIdRef(ID));
    expect(loaded).toEqual(record({ links, country: 'DE' }));
  });

  it.each<Answer<LoadedChannel>>(['upstream_unavailable', 'channel_not_found', 'hangs'])(
    'goes out as it is when the next source answers %s',
    async (answer) => {
      const clock = createManualClock();
      const loaded = over([partial, live(answer)], { clock }).getChannel(ID);
      if (answer === 'hangs') await clock.passTimer(1_500);
      expect(await loaded).toEqual(partial.channel);
    },
  );

  it('because its source never has them gets its links from the next source', async () => {
    const withoutLinks = live(record({ links: null }));
    const loaded = await over([withoutLinks, live(record({ links }))]).getChannel(ID);
    expect(loaded).toEqual(record({ links }));
  });

  it('counts as complete without links, but names them as missing', async () => {
    const withoutLinks = live(record({ links: null }));
    const loaded = await over([withoutLinks, live('upstream_unavailable')]).getChannel(ID);
    expect(loaded).toEqual(record({ links: null }, ['links'], true));
  });

  it('is left alone when it has everything', async () => {
    const other = createStub(live(record()));
    await over([live(record()), other]).getChannel(ID);
    expect(other.calls).toBe(0);
  });

  it('is left alone when it is the operator’s own', async () => {
    const other = createStub(live(record()));
    await over([catalog(record({ country: null }, ['country'])), other]).getChannel(ID);
    expect(other.calls).toBe(0);
  });
});

describe('a search of several sources', () => {
  const first: Stub = { name: 'catalog', isLive: false, hits: [hit('a', 'from the catalog'), hit('b')] };
  const second: Stub = { name: 'live', hits: [hit('c'), hit('a', 'from live'), hit('d')] };

  it('merges hits in the order of the sources, no channel twice', async () => {
    const { hits, failure } = await over([first, second]).search('q', 20);
    expect(hits.map(({ title }) => title)).toEqual(['from the catalog', 'b', 'c', 'd']);
    expect(failure).toBeUndefined();
  });

  it('names the source that failed beside what the others found', async () => {
    const { hits, failure } = await over([first, { hits: 'upstream_unavailable' }]).search('q', 20);
    expect(hits).toHaveLength(2);
    expect(failure?.code).toBe('upstream_unavailable');
  });

  it('does not wait long for a slow source when another has found something', async () => {
    const clock = createManualClock();
    const result = over([first, { hits: 'hangs' }], { clock }).search('q', 20);
    await clock.passTimer(3_000);
    const { hits, failure } = await result;
    expect(hits).toHaveLength(2);
    expect(failure?.code).toBe('upstream_timeout');
  });

  it.each<[string, Stub]>([
    ['failed', { hits: 'upstream_invalid' }],
    ['found nothing', { hits: [] }],
  ])('waits for a slow source when the others have %s', async (_what, other) => {
    const answer = Promise.withResolvers<SearchPage>();
    const slow = { ...createStub(second), search: () => answer.promise };
    const outcomes: SourceOutcome[] = [];
    const clock = createManualClock();
    const result = over([other, slow], { clock, onOutcome: (outcome) => outcomes.push(outcome) }).search('q', 20);
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), WAIT);
    await clock.passTimer(3_000);
    answer.resolve({ hits: [hit('late')] });
    expect((await result).hits.map(({ channelId }) => channelId)).toEqual(['late']);
  });

  it('that finds nothing is an empty list only where every source has answered', async () => {
    expect(await over([{ hits: [] }, { hits: [] }]).search('q', 20)).toEqual({ hits: [], next: {} });
    const search = over([{ hits: [] }, { hits: 'upstream_timeout' }]).search('q', 20);
    await expect(search).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterMs: 10_000 });
  });

  it('fails with what says most of several failures', async () => {
    const search = over([{ hits: 'upstream_invalid' }, { hits: 'upstream_timeout' }]).search('q', 20);
    await expect(search).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterMs: 10_000 });
  });

  it('goes on with the sources whose lists go on, and with no others', async () => {
    const asked: unknown[] = [];
    const paged: ChannelSource = {
      ...createStub(second),
      name: 'paged',
      async search(_query, _limit, { from }) {
        asked.push(from);
        return from === undefined ? { hits: [hit('p1')], next: 'page 2' } : { hits: [hit('p2')] };
      },
    };
    const whole = createStub(first);
    const failover = over([whole, paged]);
    const { next } = await failover.search('q', 20);
    expect(next).toEqual({ paged: 'page 2' });
    expect(await failover.search('q', 20, { from: next })).toEqual({ hits: [hit('p2')], next: {} });
    expect(asked).toEqual([undefined, 'page 2']);
    expect(whole.calls).toBe(1);
  });

  it('is whole without a source whose quota is spent, where another live one has answered', async () => {
    const spent: Stub = { hits: new QuotaSpentError('spent', 1_000) };
    expect((await over([second, spent]).search('q', 20)).failure).toBeUndefined();
    expect(await over([{ hits: [] }, spent]).search('q', 20)).toEqual({ hits: [], next: {} });
    expect((await over([first, spent]).search('q', 20)).failure?.message).toBe('spent');
    await expect(over([{ hits: 'upstream_invalid' }, spent]).search('q', 20)).rejects.toThrow('spent');
  });

  it('does not hide a bug', async () => {
    await expect(over([first, { hits: new TypeError('a bug') }]).search('q', 20)).rejects.toBeInstanceOf(TypeError);
  });
});

describe('the second a channel was created', () => {
  const exact = '2013-07-09T20:17:20Z';
  const telling = (answer: Promise<string | null>): ChannelSource => ({
    ...createStub(live(record())),
    findPublishedAt: () => answer,
  });

  it('comes from the first source that says it', async () => {
    const failing = telling(Promise.reject(new AppError('upstream_unavailable', 'No feed.')));
    const silent = telling(Promise.resolve(null));
    const failover = over([catalog(record()), failing, silent, telling(Promise.resolve(exact))]);
    expect(await failover.findPublishedAt(ID)).toBe(exact);
  });

  it('is null when no source says it', async () => {
    expect(await over([catalog(record()), telling(Promise.resolve(null))]).findPublishedAt(ID)).toBeNull();
  });
});
