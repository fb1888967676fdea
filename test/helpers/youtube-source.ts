import { createHttpClient } from '../../src/lib/http-client.ts';
import type { FieldObserver } from '../../src/sources/youtube/record.ts';
import { createYoutubeSource } from '../../src/sources/youtube/youtube.ts';

interface TestOptions {
  readonly useFieldMask?: boolean;
  readonly aboutToken?: 'computed' | 'page';
  readonly onField?: FieldObserver;
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
    clientVersion: '2.20260630.03.00',
    useFieldMask: true,
    aboutToken: 'computed',
    ...options,
  });
}
