import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createHttpClient } from '../../src/lib/http/client.ts';
import {
  BUILT_IN_CLIENT_VERSION,
  type ClientVersions,
  createFixedClientVersion,
} from '../../src/sources/youtube/client-version.ts';
import type { FieldObserver } from '../../src/sources/youtube/record.ts';
import { createYoutubeSource } from '../../src/sources/youtube/youtube.ts';

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
  return createYoutubeSource({
    http,
    origin,
    clientVersions: createFixedClientVersion(BUILT_IN_CLIENT_VERSION),
    useFieldMask: true,
    aboutToken: 'computed',
    clock: systemClock,
    ...options,
  });
}
