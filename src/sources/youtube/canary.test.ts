import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { respondWithJson, respondWithStatus } from '../../../test/helpers/fake-upstream.ts';
import { OWN_RESPONSES, type ReplayResponse, readResponses } from '../../../test/helpers/replay-responses.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import { createMemoryText, startReplayedSource, type YoutubeSource } from '../../../test/helpers/youtube-source.ts';
import { type Lease, SOLO_LEASE } from '../source.ts';
import { withCanary } from './canary.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The responses of the replay server. Tests replace texts in them. */
const responses: ReplayResponse[] = [];
let replay: ReplayServer;
let source: YoutubeSource;
let clock: ReturnType<typeof createManualClock>;
let kept: ReturnType<typeof createMemoryText>;

beforeEach(async () => {
  responses.splice(0, responses.length, ...readResponses(OWN_RESPONSES));
  ({ replay, source } = await startReplayedSource({ responses, hasAboutPages: true }));
  clock = createManualClock();
  kept = createMemoryText();
});

function rename(from: string, to: string): void {
  for (const [index, response] of responses.entries()) {
    responses[index] = { ...response, text: response.text.replaceAll(from, to) };
  }
}

function startCanary({ name = '@BellRockLight', lease = SOLO_LEASE as Lease } = {}) {
  const watched = withCanary(source, { name, clock, kept, lease });
  return { runIfDue: watched.runDueWork, state: () => watched.status().canary };
}

/** Runs the background work of each minute. */
async function pass(canary: ReturnType<typeof startCanary>, ms: number): Promise<void> {
  for (let minute = 0; minute < ms / MINUTE_MS; minute += 1) {
    clock.advance(MINUTE_MS);
    await canary.runIfDue();
  }
}

const loads = () => replay.callsTo('search').length;

describe('the canary', () => {
  it('is loaded at once, then once an hour', async () => {
    const canary = startCanary();
    expect(canary.state()).toMatchObject({ checkedAtMs: null, known: [], gone: [], failure: null });
    await canary.runIfDue();
    expect(canary.state().known).toEqual(expect.arrayContaining(['title', 'country', 'links', 'banner', 'avatar']));
    expect(canary.state()).toMatchObject({ checkedAtMs: clock.now(), gone: [], failure: null });
    await pass(canary, 3 * HOUR_MS);
    expect(loads()).toBe(4);
  });

  it('reports fields that it had and no longer has, until they return', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    rename('viewCountText', 'viewsText');
    rename('imageBannerViewModel', 'bannerViewModel');
    await pass(canary, HOUR_MS);
    expect(canary.state().gone).toEqual(['viewCount', 'banner']);
    rename('viewsText', 'viewCountText');
    await pass(canary, 5 * MINUTE_MS);
    expect(canary.state().gone).toEqual(['banner']);
  });

  it('tries each way to a record, and reports one that no longer works', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    expect(canary.state().known).toEqual(
      expect.arrayContaining(['JSON calls', 'JSON calls with headers', 'HTML page']),
    );
    replay.misbehave('about-page', respondWithStatus(404));
    await pass(canary, HOUR_MS);
    expect(canary.state()).toMatchObject({ gone: ['HTML page'], failure: null });
    replay.behave();
    replay.misbehave('version', respondWithStatus(404));
    await pass(canary, 5 * MINUTE_MS);
    expect(canary.state().gone).toEqual(['JSON calls with headers']);
  });

  it('reports the fields of a lost About panel, and is loaded again soon', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    replay.misbehave('about', respondWithStatus(500));
    await pass(canary, HOUR_MS);
    expect(canary.state().gone).toEqual(expect.arrayContaining(['viewCount', 'country', 'links']));
    replay.behave();
    await pass(canary, 5 * MINUTE_MS);
    expect(canary.state().gone).toEqual([]);
  });

  it('does not report fields that it never had', async () => {
    const canary = startCanary({ name: 'UCreplayQuiet00000000007' });
    await canary.runIfDue();
    await pass(canary, HOUR_MS);
    expect(canary.state().known).not.toContain('banner');
    expect(canary.state().gone).toEqual([]);
    replay.misbehave('about', respondWithStatus(500));
    await pass(canary, HOUR_MS);
    expect(canary.state().gone).toContain('viewCount');
    expect(canary.state().known).not.toContain('banner');
  });

  it.each([['a removed channel', respondWithJson({ error: { status: 'NOT_FOUND' } }, 404), 'no such channel']])(
    'reports why it could not be loaded: %s',
    async (_what, listener, reason) => {
      const canary = startCanary();
      await canary.runIfDue();
      replay.misbehave('all', listener);
      await pass(canary, HOUR_MS);
      expect(canary.state().failure).toContain(reason);
      expect(canary.state().known).toContain('links');
      replay.behave();
      await pass(canary, 5 * MINUTE_MS);
      expect(canary.state().failure).toBeNull();
    },
  );

  it('reports a failed search for the channel, keeps its fields, and searches again in 5 minutes', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    expect(replay.callsTo('search').map(({ body }) => body?.query)).toEqual(['Bell Rock Light']);
    const items = [{ itemSectionRenderer: { contents: [{ crown: {} }] } }];
    replay.misbehave('search', respondWithJson({ contents: { sectionListRenderer: { contents: items } } }));
    await pass(canary, HOUR_MS);
    expect(canary.state().failure).toContain('search: The video site sent search results in an unknown form.');
    expect(canary.state()).toMatchObject({ known: expect.arrayContaining(['links']), gone: [] });
    replay.behave();
    await pass(canary, 5 * MINUTE_MS);
    expect(canary.state().failure).toBeNull();
  });

  it('remembers its fields across a restart', async () => {
    await startCanary().runIfDue();
    rename('country', 'nation');
    clock.advance(HOUR_MS);
    const restarted = startCanary();
    await restarted.runIfDue();
    expect(restarted.state().gone).toEqual(['country']);
  });

  it('reports missing fields after a restart before it loads the channel again', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    rename('country', 'nation');
    await pass(canary, HOUR_MS);
    replay.forgetCalls();
    const restarted = startCanary();
    await restarted.runIfDue();
    expect(restarted.state()).toEqual(canary.state());
    expect(restarted.state().gone).toEqual(['country']);
    expect(loads()).toBe(0);
  });

  it('does not report a stored field that the channel never had', async () => {
    const nowMs = clock.now();
    const stored = {
      name: '@BellRockLight',
      checkedAtMs: nowMs,
      known: ['title'],
      gone: { avatar: nowMs },
      failure: null,
    };
    kept.text = JSON.stringify(stored);
    const canary = startCanary();
    await canary.runIfDue();
    expect(canary.state()).toMatchObject({ checkedAtMs: nowMs, known: ['title'], gone: [] });
  });

  it('starts over with another channel, and when the stored value is unusable', async () => {
    await startCanary().runIfDue();
    const other = startCanary({ name: 'UCreplayQuiet00000000007' });
    await other.runIfDue();
    expect(other.state().gone).toEqual([]);
    for (const text of [
      '{',
      'null',
      '{"name":"@BellRockLight","checkedAtMs":1,"known":["x"],"gone":{},"failure":null}',
    ]) {
      kept.text = text;
      const canary = startCanary();
      await canary.runIfDue();
      expect(canary.state().gone).toEqual([]);
    }
  });

  it('no longer reports a field after a week, as the channel’s owner may have removed it', async () => {
    const canary = startCanary();
    await canary.runIfDue();
    rename('"country"', '"nation"');
    for (let day = 0; day < 8; day += 1) {
      clock.advance(DAY_MS);
      await canary.runIfDue();
      expect([day, canary.state().gone]).toEqual([day, day < 7 ? ['country'] : []]);
    }
  });

  it('is loaded by one of several instances, and all of them report the result', async () => {
    let isTaken = false;
    const lease: Lease = {
      async tryAcquire() {
        const isFree = !isTaken;
        isTaken = true;
        return isFree;
      },
    };
    const fleet = [startCanary({ lease }), startCanary({ lease }), startCanary({ lease })];
    await Promise.all(fleet.map((canary) => canary.runIfDue()));
    for (const canary of fleet) await canary.runIfDue();
    expect(loads()).toBe(1);
    for (const canary of fleet) expect(canary.state().known).toContain('country');
  });
});
