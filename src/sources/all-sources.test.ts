import { describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { codeOf } from '../../test/helpers/failure.ts';
import { createStub, hit, ID, live, over, record, type Stub } from '../../test/helpers/fake-source.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { AppError } from '../domain/errors.ts';
import { identifierOfId } from '../domain/identifier.ts';

describe('a channel from several sources', () => {
  it('is the first that is found, and later sources are not called', async () => {
    const second = createStub(live(record({ title: 'second' })));
    const found = await over([live(record({ title: 'first' })), second]).getChannel(ID);
    expect(found.channel.title).toBe('first');
    expect(second.calls).toBe(0);
  });

  it.each<[string, Stub[], string]>([
    ['first says no, which is final', [live('channel_not_found'), live(record())], 'channel_not_found'],
    ['first fails, second finds', [live('upstream_invalid'), live(record())], 'found'],
    ['first fails, second says no', [live('upstream_invalid'), live('channel_not_found')], 'channel_not_found'],
    ['time-out, unavailable', [live('upstream_timeout'), live('upstream_unavailable')], 'upstream_unavailable'],
    ['invalid, time-out', [live('upstream_invalid'), live('upstream_timeout')], 'upstream_timeout'],
    ['a bug', [live(new TypeError('a bug')), live(record())], 'TypeError: a bug'],
  ])('%s', async (_name, stubs, expected) => {
    const sources = over(stubs);
    expect(await codeOf(sources.getChannel(ID))).toBe(expected);
    expect(await codeOf(sources.resolve(identifierOfId(ID)))).toBe(expected);
  });

  it('is an error with the time that a source named if no source gives a usable response', async () => {
    const told = live(new AppError('upstream_unavailable', 'down', { retryAfterMs: 1_500 }));
    await expect(over([told]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 1_500 });
    const later = live(new AppError('upstream_unavailable', 'no quota', { retryAfterMs: 40_000_000 }));
    await expect(over([later, told]).getChannel(ID)).rejects.toMatchObject({ retryAfterMs: 1_500 });
    const untold = over([live('upstream_timeout'), later]).getChannel(ID);
    await expect(untold).rejects.toMatchObject({ code: 'upstream_unavailable', retryAfterMs: undefined });
  });

  it('has a failure of this key if one source has, so that the key is not asked for again at once', async () => {
    const unavailable = live('upstream_unavailable');
    await expect(over([live('upstream_invalid'), unavailable]).getChannel(ID)).rejects.toMatchObject({ scope: 'key' });
    await expect(over([unavailable, unavailable]).getChannel(ID)).rejects.toMatchObject({ scope: 'upstream' });
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
});

describe('a search of several sources', () => {
  const first: Stub = { name: 'first', hits: [hit('a', 'from the first'), hit('b')] };
  const second: Stub = { name: 'second', hits: [hit('c')] };

  it('is the list of the first source that answers, also an empty one', async () => {
    const other = createStub(second);
    expect(await over([first, other]).search('q')).toHaveLength(2);
    expect(await over([{ hits: [] }, other]).search('q')).toEqual([]);
    expect(other.calls).toBe(0);
    expect(await over([{ hits: 'upstream_invalid' }, other]).search('q')).toHaveLength(1);
  });
});
