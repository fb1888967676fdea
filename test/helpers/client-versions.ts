import { expect, onTestFinished } from 'vitest';
import { type Lease, SOLO_LEASE } from '../../src/sources/source.ts';
import { BUILT_IN_CLIENT_VERSION, createClientVersions } from '../../src/sources/youtube/client-version.ts';
import { createManualClock } from './clock.ts';
import { createUpstreamClient } from './fake-upstream.ts';
import { type ReplayServer, startReplayServer } from './replay-server.ts';
import { createMemoryText, createTestYoutubeSource } from './youtube-source.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
export const DAY_MS = 24 * 3_600_000;
export const V2 = '2.20270101.01.00';
export const V3 = '2.20280101.01.00';

/** YouTube with versions that a test changes. */
export async function startYoutube() {
  const youtube = { accepted: new Set([BUILT_IN_CLIENT_VERSION]), named: BUILT_IN_CLIENT_VERSION };
  const replay = await startReplayServer({ clientVersions: youtube });
  onTestFinished(() => replay.close());
  return Object.assign(youtube, { replay });
}

interface InstanceOptions {
  readonly setting?: string;
  readonly clock?: ReturnType<typeof createManualClock>;
  readonly kept?: ReturnType<typeof createMemoryText>;
  readonly lease?: Lease;
}

/** The source `youtube` of one instance of the service. */
export function startInstance({ origin }: ReplayServer, options: InstanceOptions = {}) {
  const { setting, clock = createManualClock(), kept = createMemoryText(), lease = SOLO_LEASE } = options;
  const changes: { readonly from: string; readonly to: string }[] = [];
  const http = createUpstreamClient(origin);
  const onChange = (from: string, to: string) => void changes.push({ from, to });
  const versions = createClientVersions({ setting, http, origin, clock, kept, lease, onChange });
  const source = createTestYoutubeSource(origin, { http, clientVersions: versions });
  onTestFinished(() => source.close());
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

/** The versions in calls for records: one for each change. */
export function namedVersions({ calls }: ReplayServer): unknown[] {
  const named = calls
    .filter(({ body }) => body !== undefined)
    .map(({ body, headers }) => {
      const version = headers['x-youtube-client-version'];
      expect(body?.context).toMatchObject({ client: { clientVersion: version } });
      return version;
    });
  return named.filter((version, index) => version !== named[index - 1]);
}
