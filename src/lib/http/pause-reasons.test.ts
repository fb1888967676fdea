import { beforeEach, describe, expect, it } from 'vitest';
import { repeat, startPause } from '../../../test/helpers/pause.ts';
import { ConnectionError } from './http-client.ts';
import { UnexplainedRefusalError } from './pause.ts';

const MINUTE_MS = 60_000;

let started: ReturnType<typeof startPause>;
beforeEach(() => {
  started = startPause();
});

const noConnection = () => new ConnectionError('upstream_unavailable', 'The upstream could not be reached.');
const unexplained = () => new UnexplainedRefusalError('It refuses.', 'status 403');

describe('a refusal without an explanation', () => {
  it('concerns its key, however often it comes', async () => {
    expect(await started.fail(unexplained(), 'one')).toMatchObject({
      code: 'upstream_unavailable',
      retryAfterMs: 15_000,
    });
    for (let time = 0; time < 10; time += 1) {
      started.clock.advance(15_000);
      await started.fail(unexplained(), 'one');
    }
    expect(started.pause.state()).toBeUndefined();
  });

  it('concerns this address when another key gets it next', async () => {
    await started.fail(unexplained());
    expect(await started.fail(unexplained())).toMatchObject({ retryAfterMs: MINUTE_MS });
    expect(started.pause.state()).toMatchObject({ reason: 'refused', untilMs: started.clock.now() + MINUTE_MS });
    expect(started.pause.state()?.description).toContain('(status 403)');
  });

  it('does not when a call has succeeded in between', async () => {
    await repeat(10, async () => {
      await started.fail(unexplained());
      await started.succeed();
    });
    expect(started.pause.state()).toBeUndefined();
  });

  it('of a trial doubles the pause', async () => {
    await repeat(2, () => started.fail(unexplained()));
    started.waitForTrial();
    await started.fail(unexplained());
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + 2 * MINUTE_MS);
  });

  it('counts among five failures', async () => {
    await repeat(4, () => started.fail());
    await started.fail(unexplained());
    expect(started.reason()).toBe('failing');
  });
});

describe('a source that cannot be reached', () => {
  it('is paused after five calls without a connection, and says so', async () => {
    await repeat(5, () => started.fail(noConnection()));
    expect(started.pause.state()).toMatchObject({ reason: 'unreachable', untilMs: started.clock.now() + 10_000 });
    expect(started.pause.state()?.description).toMatch(/^YouTube cannot be reached since 2026-11-23 14:09:00 UTC \(/);
    expect(await started.fail()).toMatchObject({
      name: 'PausedError',
      message: 'YouTube cannot be reached at the moment.',
    });
  });

  it('is known before the first call, which is the trial', async () => {
    started.pause.loseContact('connect ECONNREFUSED');
    expect(started.pause.state()).toMatchObject({ reason: 'unreachable', untilMs: started.clock.now() });
    await started.fail(noConnection());
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + 10_000);
    started.waitForTrial();
    await started.succeed();
    expect(started.changes.map((state) => state?.reason)).toEqual(['unreachable', undefined]);
  });

  it('lasts until the latest time when no connection could be opened, and keeps the length of its pauses', async () => {
    started.pause.loseContact('connect ECONNREFUSED');
    await started.fail(noConnection());
    const sinceMs = started.clock.now();
    for (const minutes of [1, 2]) {
      started.clock.advance(60_000);
      started.pause.loseContact('connect ECONNREFUSED');
      expect(started.pause.state()?.untilMs).toBe(sinceMs + minutes * 60_000);
    }
    await started.fail(noConnection());
    expect(started.pause.state()?.untilMs).toBe(started.clock.now() + 20_000);
  });

  it('is not one that has responded', async () => {
    await started.succeed();
    started.pause.loseContact('connect ECONNREFUSED');
    expect(started.pause.state()).toBeUndefined();
  });

  it('stays so when a trial gets no response, but fails when it gets a bad one', async () => {
    started.pause.loseContact('connect ECONNREFUSED');
    await started.fail('upstream_timeout');
    expect(started.reason()).toBe('unreachable');
    started.waitForTrial();
    await started.fail('upstream_unavailable');
    expect(started.reason()).toBe('failing');
    started.waitForTrial();
    await started.fail(noConnection());
    expect(started.pause.state()).toMatchObject({ reason: 'unreachable', untilMs: started.clock.now() + 40_000 });
  });

  it('is ready when a connection can be opened; any other pause stays', async () => {
    started.pause.loseContact('connect ECONNREFUSED');
    started.pause.regainContact();
    expect(started.pause.state()).toBeUndefined();
    await started.refuse();
    started.pause.regainContact();
    expect(started.reason()).toBe('refused');
  });
});
