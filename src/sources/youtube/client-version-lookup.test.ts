import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import {
  createUpstreamClient,
  FAULTS,
  type FakeUpstream,
  redirectTo,
  respondWithBytes,
  respondWithStatus,
  startFakeUpstream,
} from '../../../test/helpers/fake-upstream.ts';
import { measureHeldBytes } from '../../../test/helpers/heap.ts';
import { homePage, serviceWorkerData } from '../../../test/helpers/replay-server.ts';
import { AppError } from '../../domain/errors.ts';
import type { HttpClient } from '../../lib/http/http-client.ts';
import { lookUpClientVersion } from './client-version.ts';

const VERSION = '2.20271104.02.00';

let upstream: FakeUpstream;
let http: HttpClient;
beforeEach(async () => {
  upstream = await startFakeUpstream();
  http = createUpstreamClient(upstream.origin);
});
afterEach(async () => {
  await http.close();
  await upstream.close();
});

type Listener = Parameters<FakeUpstream['response']>[0];

/** The responses of the two places. */
function lookUp(serviceWorker: Listener, page: Listener) {
  upstream.response((request, response) => (request.url === '/' ? page : serviceWorker)(request, response));
  return lookUpClientVersion({ http, origin: upstream.origin, clock: createManualClock() });
}

const sent = (text: string) => respondWithBytes(Buffer.from(text));

describe('the current client version', () => {
  it('is read from the service worker’s data without loading a page', async () => {
    expect(await lookUp(sent(serviceWorkerData(VERSION)), respondWithStatus(500))).toBe(VERSION);
    expect(upstream.requests).toEqual(['/sw.js_data']);
  });

  it.each<[string, Listener]>([
    ['404', respondWithStatus(404)],
    ['429', respondWithStatus(429)],
    ['a consent page', redirectTo('https://consent.youtube.com/m')],
    ['a broken connection', FAULTS.resetBeforeResponse],
    ['HTML with another version', sent(homePage('2.20200101.00.00'))],
    ['data without a version', sent(')]}\'\n[["yt.sw.adr",null,[]]]')],
    ['a version in another form', sent(serviceWorkerData('2.20271104'))],
    ['a version with additional text', sent(serviceWorkerData(`${VERSION}-canary`))],
    ['an endless body', FAULTS.endlessBody],
  ])('is read from the home page if the service worker’s data is %s', async (_what, serviceWorker) => {
    expect(await lookUp(serviceWorker, sent(homePage(VERSION)))).toBe(VERSION);
  });

  it('does not keep the page alive that it stands in', async () => {
    const page = sent(`${homePage(VERSION)}${' '.repeat(3_000_000)}`);
    // The first lookup loads code.
    await lookUp(respondWithStatus(404), page);
    const heldBytes = await measureHeldBytes(async () => {
      const found = [];
      for (let asked = 0; asked < 5; asked += 1) found.push(await lookUp(respondWithStatus(404), page));
      return found;
    });
    expect(heldBytes).toBeLessThan(3_000_000);
  });

  it('waits half of the time for the service worker’s data, and the other half for the home page', async () => {
    const allowedMs: number[] = [];
    const slow: HttpClient = {
      async request({ url, timeoutMs }) {
        allowedMs.push(timeoutMs);
        if (url.endsWith('/sw.js_data')) throw new AppError('upstream_timeout', 'too late');
        return { status: 200, headers: {}, body: Buffer.from(homePage(VERSION)), url };
      },
      close: async () => undefined,
    };
    const options = { http: slow, origin: 'http://youtube.test', clock: createManualClock() };
    const version = await lookUpClientVersion(options);
    expect([version, allowedMs]).toEqual([VERSION, [1_500, 1_500]]);
  });

  it.each<[string, Listener]>([
    ['a page without it', sent('<html></html>')],
    ['the mobile site', sent(homePage(VERSION).replace('"WEB"', '"MWEB"'))],
    ['a version in another form', sent(homePage('latest'))],
    ['500', respondWithStatus(500)],
  ])('is unknown if both places fail, the second one with %s', async (_what, page) => {
    expect(await lookUp(respondWithStatus(404), page)).toBeUndefined();
  });
});
