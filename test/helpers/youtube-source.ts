import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http/client.ts';
import { SOLO_LEASE } from '../../src/sources/source.ts';
import {
  BUILT_IN_CLIENT_VERSION,
  type ClientVersions,
  createClientVersions,
} from '../../src/sources/youtube/client-version.ts';
import type { FieldObserver } from '../../src/sources/youtube/record.ts';
import { createYoutubeSource } from '../../src/sources/youtube/youtube.ts';
import { createMemoryText } from './kept-text.ts';

interface TestOptions {
  readonly useFieldMask?: boolean;
  readonly aboutToken?: 'computed' | 'page';
  readonly onField?: FieldObserver;
  readonly clientVersions?: ClientVersions;
  readonly clock?: Clock;
}

/** The source over real sockets to one origin. */
export function createTestYoutubeSource(origin: string, options: TestOptions = {}) {
  const http = createHttpClient({
    allowedOrigins: [],
    privateOrigins: [origin],
    followRedirects: false,
    userAgent: 'pennant-test',
  });
  const clientVersions = createClientVersions({
    setting: BUILT_IN_CLIENT_VERSION,
    http,
    origin,
    clock: systemClock,
    kept: createMemoryText(),
    lease: SOLO_LEASE,
    onChange: () => undefined,
  });
  return createYoutubeSource({
    http,
    origin,
    clientVersions,
    useFieldMask: true,
    aboutToken: 'computed',
    clock: systemClock,
    ...options,
  });
}
