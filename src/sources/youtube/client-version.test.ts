import { describe, expect, it } from 'vitest';
import { DAY_MS, namedVersions, startInstance, startYoutube, V2, V3 } from '../../../test/helpers/client-versions.ts';
import { FAULTS, respondWithStatus } from '../../../test/helpers/fake-upstream.ts';
import { BUILT_IN_CLIENT_VERSION } from './client-version.ts';

const MINUTE_MS = 60_000;

describe('the client version', () => {
  it('that is refused is looked up once for all calls, and each call is repeated once', async () => {
    const youtube = await startYoutube();
    Object.assign(youtube, { accepted: new Set([V2]), named: V2 });
    const { load, changes, versions } = startInstance(youtube.replay);
    const titles = await Promise.all(Array.from({ length: 10 }, load));
    expect(new Set(titles)).toEqual(new Set(['Bell Rock Light']));
    expect(youtube.replay.callsTo('version')).toHaveLength(1);
    expect(youtube.replay.callsTo('browse')).toHaveLength(20);
    expect(changes).toEqual([{ from: BUILT_IN_CLIENT_VERSION, to: V2 }]);
    expect(versions.state()).toMatchObject({ version: V2, origin: 'learned', problem: null, isRefused: false });
  });

  it('is looked up at most once in five minutes, however many calls are refused', async () => {
    const youtube = await startYoutube();
    youtube.accepted.clear();
    const { load, clock, versions } = startInstance(youtube.replay);
    for (let minute = 0; minute < 15; minute += 1) {
      expect(await load()).toBeUndefined();
      clock.advance(MINUTE_MS);
    }
    expect(youtube.replay.callsTo('version')).toHaveLength(3);
    expect(versions.state()).toMatchObject({ isRefused: true, problem: expect.stringContaining('refuses') });
    youtube.accepted.add(BUILT_IN_CLIENT_VERSION);
    expect(await load()).toBe('Bell Rock Light');
    expect(versions.state()).toMatchObject({ isRefused: false, problem: null });
  });

  it('is looked up once a day in the background', async () => {
    const youtube = await startYoutube();
    const { load, clock, versions } = startInstance(youtube.replay);
    youtube.accepted.add(V2);
    youtube.named = V2;
    for (let hour = 0; hour < 48; hour += 1) {
      await versions.runIfDue();
      clock.advance(60 * MINUTE_MS);
    }
    expect(youtube.replay.callsTo('version')).toHaveLength(2);
    await load();
    expect(namedVersions(youtube.replay)).toEqual([V2]);
  });

  it('stays the last good one if the lookup fails, and is looked up again after an hour', async () => {
    const youtube = await startYoutube();
    const { load, clock, versions } = startInstance(youtube.replay);
    await versions.runIfDue();
    youtube.replay.misbehave('version', respondWithStatus(404));
    clock.advance(DAY_MS);
    await versions.runIfDue();
    expect(versions.state()).toMatchObject({
      version: BUILT_IN_CLIENT_VERSION,
      problem: 'YouTube has not named its client version since 2026-01-01; 2.20260630.03.00 stays in use',
    });
    expect(await load()).toBe('Bell Rock Light');
    youtube.replay.behave();
    youtube.replay.forgetCalls();
    clock.advance(59 * MINUTE_MS);
    await versions.runIfDue();
    expect(youtube.replay.callsTo('version')).toHaveLength(0);
    clock.advance(MINUTE_MS);
    await versions.runIfDue();
    expect(versions.state().problem).toBeNull();
  });

  it('that is learned and refused is replaced by the one before it until YouTube names another', async () => {
    const youtube = await startYoutube();
    const { load, clock, changes, versions } = startInstance(youtube.replay);
    youtube.named = V2;
    await versions.runIfDue();
    expect(await load()).toBe('Bell Rock Light');
    clock.advance(DAY_MS);
    await versions.runIfDue();
    expect(await load()).toBe('Bell Rock Light');
    youtube.named = V3;
    youtube.accepted.add(V3);
    clock.advance(DAY_MS);
    await versions.runIfDue();
    expect(await load()).toBe('Bell Rock Light');
    expect(changes.map(({ to }) => to)).toEqual([V2, BUILT_IN_CLIENT_VERSION, V3]);
    expect(namedVersions(youtube.replay)).toEqual([V2, BUILT_IN_CLIENT_VERSION, V3]);
  });

  it('is not changed by a channel that is refused with every version', async () => {
    const youtube = await startYoutube();
    const { load, clock, changes } = startInstance(youtube.replay);
    Object.assign(youtube, { named: V2, accepted: new Set<string>() });
    for (let time = 0; time < 5; time += 1) expect(await load()).toBeUndefined();
    youtube.accepted.add(BUILT_IN_CLIENT_VERSION);
    expect(await load()).toBe('Bell Rock Light');
    clock.advance(6 * MINUTE_MS);
    expect(await load()).toBe('Bell Rock Light');
    expect(changes).toEqual([]);
  });

  it('is not replaced when YouTube blocks the service', async () => {
    const youtube = await startYoutube();
    Object.assign(youtube, { named: V2, accepted: new Set<string>() });
    const { load, changes } = startInstance(youtube.replay);
    youtube.replay.misbehave('browse', respondWithStatus(400), 1);
    youtube.replay.misbehave('about', FAULTS.hangBeforeHeaders);
    youtube.replay.misbehave('browse', respondWithStatus(429));
    expect(await load()).toBeUndefined();
    expect(changes).toEqual([]);
  });

  it('that the operator has set is never changed or looked up', async () => {
    const youtube = await startYoutube();
    youtube.named = V2;
    youtube.accepted.add(V2);
    youtube.accepted.delete(BUILT_IN_CLIENT_VERSION);
    const { load, versions } = startInstance(youtube.replay, { setting: '2.0' });
    for (let time = 0; time < 3; time += 1) expect(await load()).toBeUndefined();
    await versions.runIfDue();
    expect(youtube.replay.callsTo('version')).toHaveLength(0);
    expect(namedVersions(youtube.replay)).toEqual(['2.0']);
    expect(versions.state()).toMatchObject({ origin: 'setting', isRefused: true });
    expect(versions.state().problem).toContain('YOUTUBE_CLIENT_VERSION');
  });
});
