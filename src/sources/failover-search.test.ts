import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createStub, hit, ID, live, over, record, type Stub } from '../../test/helpers/fake-source.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { AppError } from '../domain/errors.ts';
import { PausedError } from '../lib/http/pause.ts';
import type { SourceOutcome } from './failover.ts';
import type { ChannelSource, SearchPage } from './source.ts';

describe('a search of several sources', () => {
  const first: Stub = { name: 'first', hits: [hit('a', 'from the first'), hit('b')] };
  const second: Stub = { name: 'second', hits: [hit('c'), hit('a', 'from the second'), hit('d')] };

  it('merges hits in the order of the sources, no channel twice', async () => {
    const { hits, failure } = await over([first, second]).search('q', 20);
    expect(hits.map(({ title }) => title)).toEqual(['from the first', 'b', 'c', 'd']);
    expect(failure).toBeUndefined();
  });

  it('has the hits of the other sources, and the failure', async () => {
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
    const response = Promise.withResolvers<SearchPage>();
    const slow = { ...createStub(second), search: () => response.promise };
    const outcomes: SourceOutcome[] = [];
    const clock = createManualClock();
    const result = over([other, slow], { clock, onOutcome: (outcome) => outcomes.push(outcome) }).search('q', 20);
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), WAIT);
    await clock.passTimer(3_000);
    response.resolve({ hits: [hit('late')] });
    expect((await result).hits.map(({ channelId }) => channelId)).toEqual(['late']);
  });

  it('without hits is an empty list only if every source responded', async () => {
    expect(await over([{ hits: [] }, { hits: [] }]).search('q', 20)).toEqual({ hits: [], next: {} });
    const search = over([{ hits: [] }, { hits: 'upstream_timeout' }]).search('q', 20);
    await expect(search).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterMs: 10_000 });
  });

  it('fails with the most specific of several errors', async () => {
    const search = over([{ hits: 'upstream_invalid' }, { hits: 'upstream_timeout' }]).search('q', 20);
    await expect(search).rejects.toMatchObject({ code: 'upstream_timeout', retryAfterMs: 10_000 });
  });

  it('continues with the sources that have more pages, and no others', async () => {
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

  it('is complete without a source whose quota is spent, if another one responded', async () => {
    const spent: Stub = { hits: new PausedError('quota', 'spent', 1_000) };
    expect((await over([second, spent]).search('q', 20)).failure).toBeUndefined();
    expect(await over([{ hits: [] }, spent]).search('q', 20)).toEqual({ hits: [], next: {} });
    await expect(over([spent]).search('q', 20)).rejects.toThrow('spent');
    await expect(over([{ hits: 'upstream_invalid' }, spent]).search('q', 20)).rejects.toThrow('spent');
  });

  it('throws unexpected errors', async () => {
    await expect(over([first, { hits: new TypeError('a bug') }]).search('q', 20)).rejects.toBeInstanceOf(TypeError);
  });
});

describe('the second a channel was created', () => {
  const exact = '2013-07-09T20:17:20Z';
  const sourceWithTime = (response: Promise<string | null>): ChannelSource => ({
    ...createStub(live(record())),
    findPublishedAt: () => response,
  });

  it('comes from the first source that has it', async () => {
    const failing = sourceWithTime(Promise.reject(new AppError('upstream_unavailable', 'No feed.')));
    const silent = sourceWithTime(Promise.resolve(null));
    const failover = over([failing, silent, sourceWithTime(Promise.resolve(exact))]);
    expect(await failover.findPublishedAt(ID)).toBe(exact);
  });

  it('is null if no source has it', async () => {
    expect(await over([sourceWithTime(Promise.resolve(null))]).findPublishedAt(ID)).toBeNull();
  });
});
