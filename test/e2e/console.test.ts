import { describe, expect, test } from 'vitest';
import { startForTest, startWithoutEncoder, type TestApp, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { sendRaw } from '../helpers/raw-http.ts';

const SAMPLE = 'UCPennantSample00000001A';

/** Shared by tests that change nothing in it. */
const shared = useTestApp({ encoder: createFakeEncoder() });

async function statusOf(service: TestApp, url: string, host: string): Promise<number> {
  return (await service.console({ url, headers: { host } })).status;
}

describe('the private listener', () => {
  test('serves addresses and names that the operator allows, and no others', async () => {
    const service = await startWithoutEncoder({ env: { CONSOLE_ALLOWED_HOSTS: 'console.internal' } });
    const allowed = [
      'localhost:8081',
      'LOCALHOST',
      '127.0.0.1:8081',
      '[::1]:8081',
      'console.internal',
      '192.0.2.7:8081',
      '[fd00::5]:8081',
    ];
    for (const host of allowed) expect(await statusOf(service, '/', host), host).toBe(200);
    for (const host of ['rebound.example', 'localhost.rebound.example', '192.0.2.7.rebound.example']) {
      for (const url of [
        '/',
        '/state.json',
        '/playground/',
        '/playground/config.json',
        '/purge',
        '/metrics',
        '/nowhere',
      ]) {
        expect(await statusOf(service, url, host), `${host} ${url}`).toBe(403);
      }
    }
    const refused = await service.console({ url: '/', headers: { host: 'rebound.example' } });
    expect(refused.json().detail).toContain('CONSOLE_ALLOWED_HOSTS');
  });

  test('answers probes whatever Host is, for one that is not allowed with the status only', async () => {
    const service = await startWithoutEncoder();
    const port = await service.listen(service.app.console);
    const probe = (path: string, version: string, host: string) =>
      sendRaw(port, `GET ${path} HTTP/${version}\r\n${host}Connection: keep-alive\r\n\r\n`);
    for (const path of ['/healthz', '/readyz']) {
      for (const [version, host] of [
        ['1.1', 'Host: rebound.example\r\n'],
        ['1.0', ''],
      ] as const) {
        const { status, body, headers } = await probe(path, version, host);
        expect([path, status, body, headers['content-length']]).toEqual([path, 200, '', '0']);
      }
      expect((await probe(path, '1.1', 'Host: localhost\r\n')).body).not.toBe('');
    }
    expect((await probe('/state.json', '1.0', '')).status).toBe(403);
    const posted = await service.console({ method: 'POST', url: '/readyz', headers: { host: 'rebound.example' } });
    expect(posted.status).toBe(403);
  });

  test('serves the name in CONSOLE_HOST', async () => {
    const service = await startWithoutEncoder({ env: { CONSOLE_HOST: 'Pennant.internal' } });
    expect(await statusOf(service, '/', 'pennant.internal:8081')).toBe(200);
  });

  test('forbids frames and foreign scripts on its pages', async () => {
    const service = shared;
    for (const url of ['/', '/playground/']) {
      const { headers, text } = await service.console(url);
      const policy = `${headers['content-security-policy']} ${text}`;
      for (const rule of ["frame-ancestors 'none'", "default-src 'none'", "script-src 'self'"]) {
        expect([url, policy]).toEqual([url, expect.stringContaining(rule)]);
      }
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test('names the public address of a path that it does not have', async () => {
    const service = await startWithoutEncoder({ env: { BASE_URL: 'https://img.example.org/pennant' } });
    const { status, json } = await service.console('/@pennantsample/tv');
    expect([status, json().detail]).toEqual([
      404,
      expect.stringMatching(/https:\/\/img\.example\.org\/pennant\/@pennantsample\/tv$/),
    ]);
  });
});

describe('the guide', () => {
  test('has every page and heading that it links, and keeps the links of the documents', async () => {
    const read = async (url: string) => (await shared.console(url)).text;
    const linksOf = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
    const operating = await read('/guide/operating.html');
    const pages = linksOf(operating).filter((href) => /^[a-z]+\.html$/.test(href));
    expect(pages).toEqual(expect.arrayContaining(['catalog.html', 'proxies.html', 'changelog.html']));
    expect(linksOf(operating)).toContain('../playground/api.html#badges');
    for (const page of new Set(pages)) {
      for (const href of linksOf(await read(`/guide/${page}`)).filter(
        (link) => !/^https?:|\.(?:css|svg)$/.test(link),
      )) {
        const [path = '', id] = href.split('#');
        const target = await shared.console(new URL(path || page, 'http://localhost/guide/').pathname);
        expect([page, href, target.status]).toEqual([page, href, 200]);
        if (id !== undefined) expect([page, href, target.text.includes(`id="${id}"`)]).toEqual([page, href, true]);
      }
    }
  });
});

describe('the state', () => {
  test('counts requests, lookups and encodes since the start', async () => {
    const service = await startForTest(fetchedSamples());
    await service.get(`/channel/${SAMPLE}`);
    await service.get(`/channel/${SAMPLE}?again`);
    await service.get(`/${SAMPLE}/avatar.jpg?width=20`);
    await service.get('/nowhere');
    await service.get(`/channel/${SAMPLE}`, { 'if-none-match': '*' });
    const { totals, encoder, version } = await service.state();
    expect(totals.requests).toEqual({ responded: 3, unchanged: 1, clientError: 1, refused: 0, failed: 0 });
    expect(totals.lookups.records).toEqual({ miss: 1, hit: 2 });
    expect(totals.lookups.images).toEqual({ miss: 1 });
    expect(totals.encoding['+Inf']).toBe(1);
    expect(totals.sources.samples?.found).toBe(1);
    expect(encoder.processes).toBe(1);
    expect(version).toBe('0.0.0-test');
  });
});

describe('a purge', () => {
  test('is refused without the custom header field, to pages of other origins, and for GET', async () => {
    const service = await startWithoutEncoder(fetchedSamples());
    await service.get(`/channel/${SAMPLE}`);
    expect((await service.console({ method: 'POST', url: `/purge?channel=${SAMPLE}` })).status).toBe(403);
    const headers = { 'x-pennant-console': 'purge', origin: 'https://elsewhere.example' };
    expect((await service.console({ method: 'POST', url: `/purge?channel=${SAMPLE}`, headers })).status).toBe(403);
    expect(await statusOf(service, `/purge?channel=${SAMPLE}`, 'localhost')).toBe(404);
    const preflight = await service.console({
      method: 'OPTIONS',
      url: '/purge',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    expect((await service.get(`/channel/${SAMPLE}?after`)).headers['cache-status']).toContain('hit');
  });

  test('reports when there was nothing to remove', async () => {
    const service = shared;
    expect((await service.purge('@nobody')).status).toBe(404);
    expect((await service.purge('some words')).status).toBe(400);
  });
});
