import { describe, expect, it } from 'vitest';
import { startWithoutEncoder, type TestApp } from '../helpers/app.ts';

/* Requests of the playground on the private listener, which passes them on as the operator's. */

const RECORD = '/api/channel/pennantsample?type=handle';
const PROXY = 'https://img.pennant.example';
const OWN = { 'x-pennant-console': 'playground' };

const LIMITED = { BASE_URL: PROXY, RATE_LIMIT_OVERRIDES: '', RATE_LIMIT: '2/30' };

function ask(service: TestApp, path: string, headers: Readonly<Record<string, string>> = OWN, method = 'GET') {
  return service.console({ method, url: `/playground/instance${path}`, headers });
}

describe('a request of the playground on the private listener', () => {
  it('has no limit, while the public listener limits loopback as everybody', async () => {
    const service = await startWithoutEncoder({ env: LIMITED });
    for (let sent = 0; sent < 20; sent += 1) {
      const { status, headers } = await ask(service, `${RECORD}&sent=${sent}`);
      expect([status, headers.ratelimit]).toEqual([200, undefined]);
    }
    const publicStatuses = [];
    for (let sent = 0; sent < 3; sent += 1) publicStatuses.push((await service.get(RECORD)).status);
    expect(publicStatuses).toEqual([200, 200, 429]);
    expect((await ask(service, RECORD)).status).toBe(200);
  });

  it('gets what a public request gets, with public URLs, also if no proxy has that name yet', async () => {
    const service = await startWithoutEncoder({ env: { BASE_URL: PROXY } });
    const config = (await service.console('/playground/config.json')).json();
    expect(config).toMatchObject({ base: PROXY });
    const own = await ask(service, RECORD);
    expect(own.json<{ bannerUrl: string }>().bannerUrl).toBe(`${PROXY}/api/banner/UCPennantSample00000001A`);
    expect(own.text).toBe((await service.get(RECORD)).text);
    expect(own.headers).toMatchObject({ etag: expect.any(String), 'cache-control': 'public, max-age=3600' });
    const unchanged = await ask(service, RECORD, { ...OWN, 'if-none-match': String(own.headers.etag) });
    expect(unchanged.status).toBe(304);
    expect((await ask(service, '/@pennantsample/avatar.png?width=48')).headers['content-type']).toBe('image/png');
    expect((await ask(service, RECORD, OWN, 'HEAD')).status).toBe(200);
  });

  it('is refused to pages of other origins, and at names that no setting allows', async () => {
    const service = await startWithoutEncoder();
    const requests: [what: string, headers: Readonly<Record<string, string>>][] = [
      ['without the field that only its own pages can send', {}],
      ['from another site', { ...OWN, 'sec-fetch-site': 'cross-site' }],
      ['from another port of this machine', { ...OWN, 'sec-fetch-site': 'same-site' }],
      ['from another origin', { ...OWN, host: 'localhost:8081', origin: 'http://localhost:3000' }],
      ['from a page without an origin', { ...OWN, origin: 'null' }],
      ['at a rebound name', { ...OWN, host: 'rebound.example:8081' }],
    ];
    for (const [what, headers] of requests) {
      const response = await ask(service, RECORD, headers);
      expect([what, response.status]).toEqual([what, 403]);
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect((await service.state()).totals.requests.responded).toBe(0);
  });

  it('is refused to a page elsewhere before it is sent: its preflight gets no permission', async () => {
    const service = await startWithoutEncoder();
    const preflight = await ask(
      service,
      RECORD,
      { origin: 'https://elsewhere.example', 'access-control-request-headers': 'x-pennant-console' },
      'OPTIONS',
    );
    expect(preflight.status).toBe(403);
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('names the port of the public listener without BASE_URL', async () => {
    const service = await startWithoutEncoder();
    const port = await service.listen();
    const { bannerUrl } = (await ask(service, RECORD)).json<{ bannerUrl: string }>();
    expect(bannerUrl).toBe(`http://localhost:${port}/api/banner/UCPennantSample00000001A`);
  });
});
