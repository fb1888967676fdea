import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { codeOf } from '../../test/helpers/failure.ts';
import {
  FAULTS,
  type FakeUpstream,
  findRefusingOrigin,
  redirectTo,
  respondWithBytes,
  respondWithStatus,
  startFakeUpstream,
} from '../../test/helpers/fake-upstream.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { createHttpClient, type HttpClient } from '../lib/http/http-client.ts';
import { createDownloader, DOWNLOAD_MS, type Downloader } from './download.ts';

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const FIRST = 'https://yt3.googleusercontent.com/abc=s0';
const SECOND = 'https://yt3.ggpht.com/abc=w2560-fcrop64=1,00000000ffffffff-rj?x=1';

let upstream: FakeUpstream;
let http: HttpClient;
let downloader: Downloader;

beforeEach(async () => {
  upstream = await startFakeUpstream(respondWithBytes(GIF));
  point(upstream.origin);
});
afterEach(async () => {
  await http.close();
  await upstream.close();
});

function point(origin: string, clock = createManualClock()): void {
  http = createHttpClient({
    isAllowed: (allowed) => allowed === origin,
    followRedirects: true,
    userAgent: 'pennant-test',
    clock,
  });
  downloader = createDownloader({ http, imageOrigin: origin, clock });
}

function download(...urls: string[]): Promise<Buffer> {
  return downloader.download({ kind: 'remote', key: 'abc', urls }, { signal: new AbortController().signal });
}

/** Replies each request with the next status or body. */
function respondInTurn(...statuses: (number | Buffer)[]): void {
  upstream.response((request, response) => {
    const next = statuses[upstream.requests.length - 1] ?? 500;
    const listener = typeof next === 'number' ? respondWithStatus(next) : respondWithBytes(next);
    listener(request, response);
  });
}

describe('an image on an image host', () => {
  it('is requested with its own path and options at the configured origin', async () => {
    expect(await download(SECOND)).toEqual(GIF);
    expect(upstream.requests).toEqual(['/abc=w2560-fcrop64=1,00000000ffffffff-rj?x=1']);
  });

  it('is downloaded from the first URL that has it', async () => {
    expect(await download(FIRST, SECOND)).toEqual(GIF);
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([400, 403, 404, 410])('is requested under the next URL after a %i', async (status) => {
    respondInTurn(status, GIF);
    expect(await download(FIRST, SECOND)).toEqual(GIF);
  });

  it('is requested under the next URL after a response that is not an image', async () => {
    respondInTurn(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'), GIF);
    expect(await download(FIRST, SECOND)).toEqual(GIF);
  });

  it.each([429, 500, 503])('is not requested under the next URL after a %i', async (status) => {
    respondInTurn(status, GIF);
    expect(await codeOf(download(FIRST, SECOND))).toBe('upstream_unavailable');
    expect(upstream.requests).toHaveLength(1);
  });

  it('is gone if every URL says so', async () => {
    respondInTurn(404, 410);
    expect(await codeOf(download(FIRST, SECOND))).toBe('image_not_found');
  });

  it('is not gone if one URL has another error', async () => {
    respondInTurn(403, 404);
    expect(await codeOf(download(FIRST, SECOND))).toBe('upstream_unavailable');
  });

  it('is rejected if it is over 16 MiB', async () => {
    upstream.response(respondWithBytes(Buffer.concat([GIF, Buffer.alloc(16 * 1024 * 1024)])));
    expect(await codeOf(download(FIRST))).toBe('upstream_invalid');
  });

  it.each([
    'http://yt3.ggpht.com/abc=s0',
    'https://ggpht.com/abc=s0',
    'https://yt3.ggpht.com:8443/abc=s0',
    'https://yt3.ggpht.com.example/abc',
    'https://i.ytimg.com/abc',
    'https://127.0.0.1/abc',
    'file:///etc/passwd',
    'not a url',
  ])('is never requested at %s', async (url) => {
    expect(await codeOf(download(url))).toBe('upstream_invalid');
    expect(upstream.requests).toHaveLength(0);
  });

  it('at another host says nothing about the image hosts, however many there are', async () => {
    const { signal } = new AbortController();
    for (let image = 0; image < 6; image += 1) {
      const url = `https://i.ytimg.com/${image}`;
      expect(await codeOf(downloader.download({ kind: 'remote', key: url, urls: [url] }, { signal }))).toBe(
        'upstream_invalid',
      );
    }
    expect(await download(FIRST)).toEqual(GIF);
  });
});

describe('an image host', () => {
  // The test of the HTTP client has every fault.
  it.each([
    ['hangBeforeHeaders', 'upstream_timeout'],
    ['resetBeforeResponse', 'upstream_unavailable'],
    ['resetMidBody', 'upstream_invalid'],
  ] as const)('that does %s is %s', async (fault, code) => {
    const clock = createManualClock();
    point(upstream.origin, clock);
    upstream.response(FAULTS[fault]);
    const downloaded = codeOf(download(FIRST, SECOND));
    if (code === 'upstream_timeout') {
      await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), WAIT);
      await clock.passTimer(DOWNLOAD_MS);
    }
    expect(await downloaded).toBe(code);
  });

  it('that refuses connections is unavailable', async () => {
    point(await findRefusingOrigin());
    expect(await codeOf(download(FIRST))).toBe('upstream_unavailable');
  });

  it('that redirects in a circle is not followed', async () => {
    upstream.response(redirectTo('/abc=s0'));
    expect(await codeOf(download(FIRST))).toBe('upstream_invalid');
  });

  it('that redirects elsewhere refuses this address: it is not followed, and paused at once', async () => {
    upstream.response(redirectTo('https://www.google.com/sorry/index'));
    for (let call = 0; call < 3; call += 1) {
      await expect(download(FIRST)).rejects.toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 60_000 });
    }
    expect(upstream.requests).toHaveLength(1);
  });

  it('that keeps failing is paused, but definite responses that an image is gone are no failures', async () => {
    downloader = createDownloader({ http, imageOrigin: upstream.origin, clock: createManualClock() });
    upstream.response(respondWithStatus(404));
    for (let call = 0; call < 20; call += 1) expect(await codeOf(download(FIRST))).toBe('image_not_found');
    upstream.response(respondWithStatus(500));
    const { signal } = new AbortController();
    for (let call = 0; call < 6; call += 1) {
      expect(await codeOf(downloader.download({ kind: 'remote', key: `${call}`, urls: [FIRST] }, { signal }))).toBe(
        'upstream_unavailable',
      );
    }
    expect(upstream.requests).toHaveLength(25);
  });

  it('that is slow under each URL gets one deadline for all of them', async () => {
    const clock = createManualClock();
    point(upstream.origin, clock);
    upstream.response((_request, response) => {
      clock.advance((DOWNLOAD_MS * 2) / 3);
      response.writeHead(404).end();
    });
    expect(await codeOf(download(FIRST, SECOND))).toBe('upstream_timeout');
  });
});
