import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  createUpstreamClient,
  FAULTS,
  respondWithHtml,
  respondWithStatus,
} from '../../../test/helpers/fake-upstream.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import { type ReplayServer, serviceWorkerData } from '../../../test/helpers/replay-server.ts';
import { startReplayForTest } from '../../../test/helpers/youtube-service.ts';
import { createTestYoutubeSource } from '../../../test/helpers/youtube-source.ts';
import { BUILT_IN_CLIENT_VERSION, createClientVersion } from './client-version.ts';

const [LIGHTHOUSE, QUIET, HARBOUR] = [
  'UCreplayLighthouse000001',
  'UCreplayQuiet00000000007',
  'UCreplayHarbour000000002',
];
const V2 = '2.20270101.01.00';

/** The rules of YouTube, which tests change. */
const youtube = { accepted: new Set<string>(), named: '', acceptsWithoutHeaders: true };
let replay: ReplayServer;

beforeEach(async () => {
  Object.assign(youtube, { accepted: new Set(), named: V2, acceptsWithoutHeaders: true });
  replay = await startReplayForTest({ clientVersions: youtube });
});

/** The source `youtube` of one instance of the service. */
function startInstance() {
  const { origin } = replay;
  const http = createUpstreamClient(origin);
  const version = createClientVersion({ http, origin });
  const source = createTestYoutubeSource(origin, { http, clientVersion: version });
  onTestFinished(() => source.close());
  const { signal } = new AbortController();
  return {
    version,
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
    const { load, search, resolve, version } = startInstance();
    expect([
      await load(LIGHTHOUSE),
      (await search('light'))?.hits,
      (await resolve('@BellRockLight'))?.channelId,
    ]).toEqual([LIGHTHOUSE, expect.anything(), LIGHTHOUSE]);
    expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION]);
    expect(version.state()).toEqual({ version: BUILT_IN_CLIENT_VERSION, origin: 'built-in' });
    expect(lookups()).toBe(0);
  });

  it.each(['load', 'search', 'resolve'] as const)('is not suspected when one %s is refused', async (operation) => {
    const { load, search, resolve } = startInstance();
    youtube.acceptsWithoutHeaders = false;
    const attempts = {
      load: () => load(LIGHTHOUSE),
      search: () => search('light'),
      resolve: () => resolve('@BellRockLight'),
    };
    for (let time = 0; time < 3; time += 1) expect(await attempts[operation]()).toBeUndefined();
    expect(lookups()).toBe(0);
    expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION]);
  });

  it.each(['load', 'search', 'resolve'] as const)(
    'that is refused for a channel and then by a %s is replaced by the one that YouTube names, in the headers',
    async (operation) => {
      Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
      const { load, search, resolve, version } = startInstance();
      expect(await load(LIGHTHOUSE)).toBeUndefined();
      const attempts = {
        load: () => load(QUIET),
        search: () => search('light'),
        resolve: () => resolve('@BellRockLight'),
      };
      expect(await attempts[operation]()).toBeDefined();
      expect(version.state()).toEqual({ version: V2, origin: 'learned' });
      expect(await load(LIGHTHOUSE)).toBe(LIGHTHOUSE);
      expect(namedClients()).toEqual([BUILT_IN_CLIENT_VERSION, `${V2} in headers`]);
      expect(lookups()).toBe(1);
    },
  );

  it('is looked up once for all calls that are refused at the same time', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load } = startInstance();
    await load(HARBOUR);
    replay.forgetCalls();
    const found = await Promise.all(
      Array.from({ length: 10 }, (_, index) => load(index % 2 === 0 ? LIGHTHOUSE : QUIET)),
    );
    expect(new Set(found)).toEqual(new Set([LIGHTHOUSE, QUIET]));
    expect(lookups()).toBe(1);
    expect(replay.callsTo('browse')).toHaveLength(20);
  });

  it.each([
    ['404', respondWithStatus(404)],
    ['a page', respondWithHtml()],
    ['data without a version', respondWithStatus(200, {}, ')]}\'\n[["yt.sw.adr",null,[]]]')],
    ['a version in another form', respondWithStatus(200, {}, serviceWorkerData('2.20271104'))],
    ['a broken connection', FAULTS.resetBeforeResponse],
  ])('stays in use if YouTube does not name one: %s', async (_what, listener) => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    replay.misbehave('version', listener);
    const { load, version } = startInstance();
    await load(LIGHTHOUSE);
    expect(await load(QUIET)).toBeUndefined();
    expect(version.state().origin).toBe('built-in');
  });

  it.each([
    ['a status 429', respondWithStatus(429)],
    ['a captcha with status 400', respondWithHtml(400)],
    ['a status 500', respondWithStatus(500)],
    ['a connection reset', FAULTS.resetBeforeResponse],
  ])('is not suspected because of %s', async (_what, listener) => {
    const { load } = startInstance();
    replay.misbehave('all', listener);
    for (const channelId of [LIGHTHOUSE, QUIET, HARBOUR]) expect(await load(channelId)).toBeUndefined();
    expect(lookups()).toBe(0);
  });

  it('does not change when the trial of another one is blocked', async () => {
    Object.assign(youtube, { acceptsWithoutHeaders: false, accepted: new Set([V2]) });
    const { load, version } = startInstance();
    await load(LIGHTHOUSE);
    replay.misbehave('browse', respondWithStatus(400), 1);
    replay.misbehave('browse', respondWithStatus(429), 1);
    replay.misbehave('about', FAULTS.resetBeforeResponse);
    expect(await load(QUIET)).toBeUndefined();
    expect(version.state().origin).toBe('built-in');
  });
});
