import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { answerStatus, FAULTS } from '../../../test/helpers/fake-upstream.ts';
import { createMemoryText } from '../../../test/helpers/kept-text.ts';
import { OWN_ANSWERS, readAnswers } from '../../../test/helpers/replay-answers.ts';
import { type ReplayServer, startReplayServer } from '../../../test/helpers/replay-server.ts';
import { createTestYoutubeSource } from '../../../test/helpers/youtube-source.ts';
import { createHttpClient } from '../../lib/http/client.ts';
import { type Lease, SOLO_LEASE } from '../source.ts';
import { BUILT_IN_CLIENT_VERSION, type ClientVersionChange, createClientVersions } from './client-version.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const V2 = '2.20270101.01.00';
const V3 = '2.20280101.01.00';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** YouTube with versions that a test changes. */
async function startYoutube() {
  const youtube = { accepted: new Set([BUILT_IN_CLIENT_VERSION]), named: BUILT_IN_CLIENT_VERSION };
  const replay = await startReplayServer({
    answers: readAnswers(OWN_ANSWERS),
    clientVersions: { accepts: (version) => youtube.accepted.has(version), named: () => youtube.named },
  });
  closing.push(() => replay.close());
  return Object.assign(youtube, { replay });
}

interface InstanceOptions {
  readonly setting?: string;
  readonly clock?: ReturnType<typeof createManualClock>;
  readonly kept?: ReturnType<typeof createMemoryText>;
  readonly lease?: Lease;
}

/** One instance of the service, as far as its source `youtube` goes. */
function startInstance({ origin }: ReplayServer, options: InstanceOptions = {}) {
  const { setting, clock = createManualClock(), kept = createMemoryText(), lease = SOLO_LEASE } = options;
  const changes: ClientVersionChange[] = [];
  const http = createHttpClient({
    allowedOrigins: [],
    privateOrigins: [origin],
    followRedirects: false,
    userAgent: 'pennant-test',
  });
  const versions = createClientVersions({
    setting,
    http,
    origin,
    clock,
    kept,
    lease,
    onChange: (change) => changes.push(change),
  });
  const source = createTestYoutubeSource(origin, { clientVersions: versions });
  closing.push(
    () => source.close(),
    () => http.close(),
  );
  const { signal } = new AbortController();
  return {
    clock,
    kept,
    changes,
    versions,
    /** `undefined`: there was no record. */
    async load() {
      const loaded = await source.getChannel(LIGHTHOUSE, { signal }).catch(() => undefined);
      return loaded?.channel.title;
    },
  };
}

/** The versions that calls for records have named, each once for each time that it changed. */
function namedVersions({ calls }: ReplayServer): unknown[] {
  const named = calls
    .filter(({ body }) => body !== undefined)
    .map(({ body, headers }) => {
      const version = headers['x-youtube-client-version'];
      expect(body?.context).toMatchObject({ client: { clientVersion: version } });
      return version;
    });
  return named.filter((version, index) => version !== named[index - 1]);
}

describe('the client version', () => {
  it('that is refused is renewed once for everybody, and each call is repeated once', async () => {
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

  it('is asked for once in five minutes at most, however often calls are refused', async () => {
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

  it('is asked for once a day beside requests', async () => {
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

  it('stays the last good one where no current one can be learned, and is asked for again after an hour', async () => {
    const youtube = await startYoutube();
    const { load, clock, versions } = startInstance(youtube.replay);
    await versions.runIfDue();
    youtube.replay.misbehave('version', answerStatus(404));
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

  it('that is learned and refused gives way to the earlier one, until YouTube names another', async () => {
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

  it('is not changed by a channel that is refused whatever the version', async () => {
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

  it('is not taken over because of a block', async () => {
    const youtube = await startYoutube();
    Object.assign(youtube, { named: V2, accepted: new Set<string>() });
    const { load, changes } = startInstance(youtube.replay);
    youtube.replay.misbehave('browse', answerStatus(400), 1);
    youtube.replay.misbehave('about', FAULTS.hangBeforeHeaders);
    youtube.replay.misbehave('browse', answerStatus(429));
    expect(await load()).toBeUndefined();
    expect(changes).toEqual([]);
  });

  it('that an operator has set is never changed and never asked for', async () => {
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

describe('a year and a half', () => {
  it('passes without a failure where YouTube names versions and refuses those older than a year', async () => {
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

  it('costs one refused call for each version where nothing was learned beside requests', async () => {
    const youtube = await startYoutube();
    const { load, clock, changes, kept } = startInstance(youtube.replay);
    expect(await load()).toBe('Bell Rock Light');

    clock.advance(500 * DAY_MS);
    Object.assign(youtube, { accepted: new Set([V2]), named: V2 });
    expect(await load()).toBe('Bell Rock Light');

    clock.advance(500 * DAY_MS);
    Object.assign(youtube, { accepted: new Set([V3]), named: V3 });
    expect(await load()).toBe('Bell Rock Light');

    // The newest one is withdrawn while YouTube still names it.
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

describe('a fleet', () => {
  /** One instance may ask within the time, as with a key in Redis. */
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

  it('asks once a day, and every instance takes over what one has learned', async () => {
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

  it('shares the lease with instances of other releases, which know it by its name', async () => {
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

  it('asks once when all instances are refused', async () => {
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

describe('what is stored of the versions', () => {
  it('is written again where the store has lost it, or had no room for it', async () => {
    const youtube = await startYoutube();
    Object.assign(youtube, { named: V2, accepted: new Set([V2]) });
    const { load, kept, versions } = startInstance(youtube.replay);
    await load();
    kept.text = undefined;
    await versions.runIfDue();
    expect(kept.text).toContain(`"current":"${V2}"`);
  });

  const sound = {
    current: V2,
    earlier: null,
    learned: V2,
    rejected: null,
    learnedAtMs: 1,
    askedAtMs: 1,
    writtenAtMs: 1,
  };

  it.each<[string, string]>([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['another form of version', JSON.stringify({ ...sound, current: 'x"}}' })],
    ['no times', JSON.stringify({ ...sound, writtenAtMs: undefined })],
    ['endless times', JSON.stringify(sound).replace(':1', ':1e308')],
  ])('is ignored where it is %s', async (_what, text) => {
    const youtube = await startYoutube();
    const { load } = startInstance(youtube.replay, { kept: createMemoryText(text) });
    expect(await load()).toBe('Bell Rock Light');
    expect(namedVersions(youtube.replay)).toEqual([BUILT_IN_CLIENT_VERSION]);
  });

  it('does not keep YouTube from being asked where it is from the future', async () => {
    const youtube = await startYoutube();
    const future = {
      ...sound,
      current: null,
      learnedAtMs: Date.UTC(2099, 0),
      askedAtMs: Date.UTC(2099, 0),
      writtenAtMs: Date.UTC(2099, 0),
    };
    const { versions } = startInstance(youtube.replay, { kept: createMemoryText(JSON.stringify(future)) });
    await versions.runIfDue();
    expect(youtube.replay.callsTo('version')).toHaveLength(1);
  });
});
