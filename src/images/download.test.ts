import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { codeOf } from '../../test/helpers/failure.ts';
import {
  createTestClient,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithStatus,
  startFakeUpstream,
} from '../../test/helpers/fake-upstream.ts';
import { IMAGE_SOURCE } from '../domain/source-status.ts';
import { createUnlimitedGates } from '../sources/gates.ts';
import { createDownloader, DOWNLOAD_MS, type Downloader } from './download.ts';

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const FIRST = 'https://yt3.googleusercontent.com/abc=s0';
const SECOND = 'https://yt3.ggpht.com/abc=w2560-fcrop64=1,00000000ffffffff-rj?x=1';

let upstream: FakeUpstream;
let downloader: Downloader;

beforeEach(async () => {
  upstream = await startFakeUpstream(respondWithBytes(GIF));
  point(upstream.origin);
});
afterEach(async () => {
  await upstream.close();
});

function point(origin: string, clock = createManualClock()): void {
  const gate = createUnlimitedGates(createTestClient(clock), clock)(IMAGE_SOURCE);
  downloader = createDownloader({ gate, imageOrigin: origin, clock });
}

function download(...urls: string[]): Promise<Buffer> {
  return downloader.download({ kind: 'remote', key: urls.join(), urls });
}

/** Replies each request with the next status or body. */
function respondInTurn(...statuses: (number | Buffer)[]): void {
  upstream.response((request, response) => {
    const next = statuses[upstream.requests.length - 1] ?? 500;
    const listener = typeof next === 'number' ? respondWithStatus(next) : respondWithBytes(next);
    listener(request, response);
  });
}

describe('an image', () => {
  it('is requested with its own path and options at the configured origin, from the first URL that has it', async () => {
    expect(await download(SECOND, FIRST)).toEqual(GIF);
    expect(upstream.requests).toEqual(['/abc=w2560-fcrop64=1,00000000ffffffff-rj?x=1']);
  });

  it.each<[number | Buffer, number | Buffer, string, number]>([
    [400, GIF, 'found', 2],
    [403, GIF, 'found', 2],
    [404, GIF, 'found', 2],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'), GIF, 'found', 2],
    [429, GIF, 'upstream_unavailable', 1],
    // The first URL again.
    [500, GIF, 'found', 2],
    [500, 500, 'upstream_unavailable', 2],
    [404, 410, 'image_not_found', 2],
    [403, 404, 'upstream_unavailable', 2],
  ])('whose URLs answer %s and %s is %s', async (first, second, code, requests) => {
    respondInTurn(first, second);
    expect(await codeOf(download(FIRST, SECOND))).toBe(code);
    expect(upstream.requests).toHaveLength(requests);
  });

  it.each([
    'http://yt3.ggpht.com/abc=s0',
    'https://ggpht.com/abc=s0',
    'https://yt3.ggpht.com:8443/abc=s0',
    'https://yt3.ggpht.com.example/abc',
    'https://i.ytimg.com/abc',
    'https://www.gstatic.com/other/youtube/abc',
    'https://www.gstatic.com/youtube/../abc',
    'https://gstatic.com/youtube/abc',
    'https://127.0.0.1/abc',
    'file:///etc/passwd',
    'not a url',
  ])('is never requested at %s, which says nothing about the image hosts', async (url) => {
    for (let key = 0; key < 6; key += 1) expect(await codeOf(download(`${url}${key}`))).toBe('upstream_invalid');
    expect(upstream.requests).toHaveLength(0);
    expect(await download(FIRST)).toEqual(GIF);
    expect(await download('https://www.gstatic.com/youtube/profile.png')).toEqual(GIF);
  });
});

describe('an image host', () => {
  it('that redirects in a circle is not followed', async () => {
    upstream.response(redirectTo('/abc=s0'));
    expect(await codeOf(download(FIRST))).toBe('upstream_invalid');
  });

  it('that redirects elsewhere refuses this address: it is not followed, and not called again', async () => {
    upstream.response(redirectTo('https://www.google.com/sorry/index'));
    for (let call = 0; call < 3; call += 1) {
      await expect(download(FIRST)).rejects.toMatchObject({ code: 'upstream_unavailable', retryAfterMs: 60_000 });
    }
    expect(upstream.requests).toHaveLength(1);
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
