import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import {
  createUpstreamClient,
  FAULTS,
  respondWithHtml,
  respondWithStatus,
} from '../../../test/helpers/fake-upstream.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import { startReplayForTest } from '../../../test/helpers/youtube-service.ts';
import { createTestYoutubeSource } from '../../../test/helpers/youtube-source.ts';
import { createPause } from '../../lib/http/pause.ts';
import { BUILT_IN_CLIENT_VERSION, createClientVersions } from './client-version.ts';

const [LIGHTHOUSE, QUIET, HARBOUR] = [
  'UCreplayLighthouse000001',
  'UCreplayQuiet00000000007',
  'UCreplayHarbour000000002',
];
const [V2, V3] = ['2.20270101.01.00', '2.20280101.01.00'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The rules of YouTube, which tests change. */
const youtube = { accepted: new Set<string>(), named: '', acceptsWithoutHeaders: true };
let replay: ReplayServer;

beforeEach(async () => {
  Object.assign(youtube, { accepted: new Set(), named: V2, acceptsWithoutHeaders: true });
  replay = await startReplayForTest({ clientVersions: youtube });
});

/** The source `youtube` of one instance of the service. */
function startInstance({ isFirstRefusalEnough = false } = {}) {
  const { origin } = replay;
  const [clock, http] = [createManualClock(), createUpstreamClient(origin)];
  const changes: { readonly from: string; readonly to: string }[] = [];
  const onChange = (from: string, to: string) => void changes.push({ from, to });
  const calls = createPause({ clock, label: 'YouTube’s JSON interface' });
  const versions = createClientVersions({ http, origin, clock, calls, isFirstRefusalEnough, onChange });
  const source = createTestYoutubeSource(origin, { http, clientVersions: versions });
  onTestFinished(() => source.close());
  const { signal } = new AbortController();
  return {
    clock,
    changes,
    versions,
    source,
    /** `undefined`: there was no record. */
    async load(channelId: string) {
      const loaded = await source.getChannel(channelId, { signal }).catch(() => undefined);
      return loaded?.channel.channelId;
    },
    search: (query: string) => source.search(query, 20, { signal }).catch(() => undefined),
    resolve: (name: string) => source.resolve(handleRef(name), { signal }).catch(() => undefined),
  };
}

/** How calls for records and searches named the client: one entry for each change. */
function namedClients(): string[] {
  const named = replay.calls.flatMap(({ body, headers }) => {
    if (body === undefined) return [];
    const { clientVersion } = (body.context as { client: { clientVersion: string } }).client;
    const { 'x-youtube-client-name': name, 'x-youtube-client-version': version } = headers;
    if (name === undefined && version === undefined) return [clientVersion];
    expect([name, version]).toEqual(['1', clientVersion]);
    return [`${clientVersion} in headers`];
  });
  return named.filter((client, index) => client !== named[index - 1]);
}

const lookups = () => replay.callsTo('version').length;

describe('the client version', () => {
  it('is built in and named without the two headers, so that YouTube accepts it at any age', async () => {
    const { load, search, resolve, versions } = startInstance();
    expect([
      await load(LIGHTHOUSE),
      (await search('light'))?.hits,
      (await resolve('@BellRockLight'))?.channelId,
    ]).toEqual([LIGHTHOUSE, expect.anything(), LIGHTHOUSE]);
    expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION]);
    expect(versions.state()).toEqual({ version: BUILT_IN_CLIENT_VERSION, origin: 'built-in' });
    expect(lookups()).toBe(0);
  });

  it('is not suspected when one channel, search or name is refused', async () => {
    const { load, search, resolve, clock } = startInstance();
    for (const attempt of [() => load(LIGHTHOUSE), () => search('light'), () => resolve('@BellRockLight')]) {
      expect(await load(QUIET)).toBe(QUIET);
      youtube.acceptsWithoutHeaders = false;
      for (let time = 0; time < 3; time += 1) expect(await attempt()).toBeUndefined();
      youtube.acceptsWithoutHeaders = true;
      clock.advance(2 * HOUR_MS);
    }
    expect(lookups()).toBe(0);
    expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION]);
  });

  it.each(['load', 'search', 'resolve'] as const)(
    'that is refused for a channel and then by a %s is replaced by the one that YouTube names, in the headers',
    async (operation) => {
      Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
      const { load, search, resolve, changes, versions } = startInstance();
      expect(await load(LIGHTHOUSE)).toBeUndefined();
      const attempts = {
        load: () => load(QUIET),
        search: () => search('light'),
        resolve: () => resolve('@BellRockLight'),
      };
      expect(await attempts[operation]()).toBeDefined();
      expect(changes).toEqual([{ from: BUILT_IN_CLIENT_VERSION, to: V2 }]);
      expect(versions.state()).toEqual({ version: V2, origin: 'learned' });
      expect(await load(LIGHTHOUSE)).toBe(LIGHTHOUSE);
      expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION, `${V2} in headers`]);
      expect(lookups()).toBe(1);
    },
  );

  it('is replaced on a site with a single channel, too, when the refusal lasts for a minute', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load, clock } = startInstance();
    expect(await load(LIGHTHOUSE)).toBeUndefined();
    clock.advance(MINUTE_MS - 1);
    expect(await load(LIGHTHOUSE)).toBeUndefined();
    clock.advance(1);
    expect(await load(LIGHTHOUSE)).toBe(LIGHTHOUSE);
  });

  it('is replaced after the first refusal where only one channel is loaded, as by the doctor', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { resolve } = startInstance({ isFirstRefusalEnough: true });
    expect((await resolve('@BellRockLight'))?.channelId).toBe(LIGHTHOUSE);
  });

  it('is looked up once for all calls that are refused at the same time', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load, changes } = startInstance();
    await load(HARBOUR);
    replay.forgetCalls();
    const found = await Promise.all(
      Array.from({ length: 10 }, (_, index) => load(index % 2 === 0 ? LIGHTHOUSE : QUIET)),
    );
    expect(new Set(found)).toEqual(new Set([LIGHTHOUSE, QUIET]));
    expect(lookups()).toBe(1);
    expect(replay.callsTo('browse')).toHaveLength(20);
    expect(changes).toHaveLength(1);
  });

  it('is looked up at most once an hour, and the version that YouTube names is tried once in that time', async () => {
    youtube.acceptsWithoutHeaders = false;
    const { load, clock, versions, changes } = startInstance();
    for (let minute = 0; minute < 121; minute += 1) {
      expect(await load(minute % 2 === 0 ? LIGHTHOUSE : QUIET)).toBeUndefined();
      clock.advance(MINUTE_MS);
    }
    expect(lookups()).toBe(2);
    const tried = replay.calls.filter(({ headers }) => headers['x-youtube-client-version'] !== undefined);
    expect(tried.length).toBeLessThanOrEqual(2 * 3);
    expect(versions.isRefused()).toBe(true);
    expect(changes).toEqual([]);
    youtube.acceptsWithoutHeaders = true;
    expect(await load(LIGHTHOUSE)).toBe(LIGHTHOUSE);
    expect(versions.isRefused()).toBe(false);
  });

  it('that was refused for two bad channels is replaced when it is refused for good, even within the hour', async () => {
    youtube.acceptsWithoutHeaders = false;
    const { load, clock } = startInstance();
    await load(LIGHTHOUSE);
    await load(QUIET);
    youtube.acceptsWithoutHeaders = true;
    expect(await load(HARBOUR)).toBe(HARBOUR);
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    clock.advance(MINUTE_MS);
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBe(QUIET);
    expect(lookups()).toBe(1);
  });

  it('that is learned and refused is replaced by a newer one, or by the built-in one', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load, clock, changes } = startInstance();
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBe(QUIET);
    Object.assign(youtube, { accepted: new Set([V3]), named: V3 });
    clock.advance(HOUR_MS);
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBe(QUIET);
    Object.assign(youtube, { accepted: new Set(), acceptsWithoutHeaders: true });
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBe(QUIET);
    expect(changes.map(({ to }) => to)).toEqual([V2, V3, BUILT_IN_CLIENT_VERSION]);
    expect(namedClients().at(-1)).toBe(BUILT_IN_CLIENT_VERSION);
  });

  it('stays in use if YouTube does not name one', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    replay.misbehave('version', respondWithStatus(404));
    const { load, changes } = startInstance();
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBeUndefined();
    expect(changes).toEqual([]);
  });

  it.each([
    ['a status 429', respondWithStatus(429)],
    ['a captcha with status 400', respondWithHtml(400)],
    ['a status 500', respondWithStatus(500)],
    ['a connection reset', FAULTS.resetBeforeResponse],
  ])('is not suspected because of %s', async (_what, listener) => {
    const { load, versions } = startInstance();
    replay.misbehave('all', listener);
    for (const channelId of [LIGHTHOUSE, QUIET, HARBOUR]) expect(await load(channelId)).toBeUndefined();
    expect(lookups()).toBe(0);
    expect(versions.isRefused()).toBe(false);
  });

  it('does not change when the trial of another one is blocked', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load, changes } = startInstance();
    await load(LIGHTHOUSE);
    replay.misbehave('browse', respondWithStatus(400), 1);
    replay.misbehave('browse', respondWithStatus(429), 1);
    replay.misbehave('about', FAULTS.resetBeforeResponse);
    expect(await load(QUIET)).toBeUndefined();
    expect(changes).toEqual([]);
  });
});
