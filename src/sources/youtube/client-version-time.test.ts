import { describe, expect, it } from 'vitest';
import { DAY_MS, namedVersions, startInstance, startYoutube, V2, V3 } from '../../../test/helpers/client-versions.ts';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { createMemoryText } from '../../../test/helpers/youtube-source.ts';
import type { Lease } from '../source.ts';
import { BUILT_IN_CLIENT_VERSION } from './client-version.ts';

describe('a year and a half', () => {
  it('passes without a failure if YouTube names versions and refuses those older than a year', async () => {
    const youtube = await startYoutube();
    const clock = createManualClock(Date.UTC(2026, 6, 1));
    const { load, versions, changes } = startInstance(youtube.replay, { clock });
    for (let week = 0; week < 78; week += 1) {
      const today = new Date(clock.now()).toISOString().slice(0, 10).replaceAll('-', '');
      youtube.named = `2.${today}.00.00`;
      youtube.accepted = new Set([youtube.named, ...[...youtube.accepted].slice(0, 51)]);
      await versions.runIfDue();
      expect(await load()).toBe('Bell Rock Light');
      clock.advance(7 * DAY_MS);
    }
    expect(changes).toHaveLength(78);
  });

  it('costs one refused call for each version if nothing was learned in the background', async () => {
    const youtube = await startYoutube();
    const { load, clock, changes, kept } = startInstance(youtube.replay);
    expect(await load()).toBe('Bell Rock Light');

    clock.advance(500 * DAY_MS);
    Object.assign(youtube, { accepted: new Set([V2]), named: V2 });
    expect(await load()).toBe('Bell Rock Light');

    clock.advance(500 * DAY_MS);
    Object.assign(youtube, { accepted: new Set([V3]), named: V3 });
    expect(await load()).toBe('Bell Rock Light');

    // YouTube refuses the newest version while it still names it.
    clock.advance(DAY_MS);
    youtube.accepted = new Set([V2]);
    expect(await load()).toBe('Bell Rock Light');
    expect(changes.map(({ to }) => to)).toEqual([V2, V3, V2]);

    const restarted = startInstance(youtube.replay, { clock, kept });
    expect(await restarted.load()).toBe('Bell Rock Light');
    expect(namedVersions(youtube.replay).at(-1)).toBe(V2);
    expect(restarted.changes).toEqual([{ from: BUILT_IN_CLIENT_VERSION, to: V2 }]);
  });
});

describe('a group of instances', () => {
  /** A lease that one instance gets for the given time, as with a key in Redis. */
  function createFleetLease(clock: ReturnType<typeof createManualClock>): Lease {
    let untilMs = 0;
    return {
      async tryAcquire(_task, ttlMs) {
        if (clock.now() < untilMs) return false;
        untilMs = clock.now() + ttlMs;
        return true;
      },
    };
  }

  it('looks up the version once a day, and every instance uses it', async () => {
    const youtube = await startYoutube();
    const clock = createManualClock();
    const shared = { clock, kept: createMemoryText(), lease: createFleetLease(clock) };
    const fleet = Array.from({ length: 5 }, () => startInstance(youtube.replay, shared));
    Object.assign(youtube, { named: V2, accepted: new Set([V2]) });
    for (const { versions } of [...fleet, ...fleet]) await versions.runIfDue();
    expect(youtube.replay.callsTo('version')).toHaveLength(1);
    for (const { load } of fleet) expect(await load()).toBe('Bell Rock Light');
    expect(namedVersions(youtube.replay)).toEqual([V2]);
  });

  it('shares the lease with instances of other releases, which use the same name', async () => {
    const youtube = await startYoutube();
    const tasks: string[] = [];
    const lease: Lease = {
      async tryAcquire(task) {
        tasks.push(task);
        return true;
      },
    };
    await startInstance(youtube.replay, { lease }).versions.runIfDue();
    expect(tasks).toEqual(['youtube-client-version']);
  });

  it('looks up the version once when all instances are refused', async () => {
    const youtube = await startYoutube();
    const clock = createManualClock();
    const shared = { clock, kept: createMemoryText(), lease: createFleetLease(clock) };
    const fleet = Array.from({ length: 5 }, () => startInstance(youtube.replay, shared));
    for (const { load } of fleet) await load();
    Object.assign(youtube, { named: V2, accepted: new Set([V2]) });
    for (const { load } of fleet) expect(await load()).toBe('Bell Rock Light');
    expect(youtube.replay.callsTo('version')).toHaveLength(1);
  });
});
