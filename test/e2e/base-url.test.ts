import { describe, expect, test } from 'vitest';
import { type TestApp, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

const SAMPLE = 'UCPennantSample00000001A';
const RECORD = `/channel/${SAMPLE}`;

/** A service behind a trusted proxy. */
const useService = (env: Record<string, string>) =>
  useTestApp({ encoder: createFakeEncoder(), env: { TRUST_PROXY: '127.0.0.0/8', ...env } });

/** The base of the URLs in a record. */
async function readBase(service: TestApp, host: string, scheme: string): Promise<string> {
  const response = await service.get(RECORD, { host, 'x-forwarded-proto': scheme });
  return response.json<{ bannerUrl: string }>().bannerUrl.replace(`/api/banner/${SAMPLE}`, '');
}

describe('a default port in Host makes no other origin', () => {
  const service = useService({});

  test.each([
    ['b.example:443', 'https', 'https://b.example'],
    ['B.example:80', 'http', 'http://b.example'],
    ['[::1]:80', 'http', 'http://[::1]'],
    ['b.example:80', 'https', 'https://b.example:80'],
    ['b.example:8080', 'http', 'http://b.example:8080'],
  ])('%s with %s: %s', async (host, scheme, base) => {
    expect(await readBase(service, host, scheme)).toBe(base);
  });
});

describe('of several BASE_URLs', () => {
  const BASE_URL = 'https://one.example/a, https://two.example/b, http://two.example, https://one.example/c';
  const service = useService({ BASE_URL });

  test.each([
    ['two.example', 'https', 'https://two.example/b'],
    ['two.example:443', 'https', 'https://two.example/b'],
    ['two.example', 'http', 'http://two.example'],
    ['TWO.example:80', 'http', 'http://two.example'],
    ['one.example', 'https', 'https://one.example/a'],
    // The scheme is not known without a trusted proxy's `X-Forwarded-Proto`.
    ['one.example', 'http', 'https://one.example/a'],
    ['one.example:443', 'http', 'https://one.example/a'],
    ['two.example:8443', 'https', 'https://one.example/a'],
    ['other.example', 'https', 'https://one.example/a'],
  ])('Host: %s with %s chooses %s', async (host, scheme, base) => {
    expect(await readBase(service, host, scheme)).toBe(base);
  });
});

describe('with a path in BASE_URL, for a proxy that strips it', () => {
  const BASE = 'https://example.org/pennant';
  const service = useService({ BASE_URL: `${BASE}/` });

  test('every URL in records, search results and documents begins with it', async () => {
    for (const path of [
      RECORD,
      '/api/search?q=pennant',
      `/api/channels?ids=${SAMPLE}`,
      '/',
      '/problems',
      '/openapi.json',
    ]) {
      const { status, text } = await service.get(path, { host: 'example.org' });
      expect([path, status]).toEqual([path, 200]);
      const own = text.match(/https:\/\/example\.org[^"]*/g) ?? [];
      expect([path, own.length > 0, own.filter((url) => !url.startsWith(BASE))]).toEqual([path, true, []]);
    }
    const { servers } = (await service.get('/openapi.json')).json<{ servers: object[] }>();
    expect(servers).toEqual([{ url: BASE }]);
  });

  test('the playground gets its records and its own base, once', async () => {
    expect((await service.console('/playground/config.json')).json()).toMatchObject({ base: BASE });
    const headers = { 'x-pennant-console': 'playground' };
    const record = await service.console({ url: `/playground/instance${RECORD}`, headers });
    expect(record.json().bannerUrl).toBe(`${BASE}/api/banner/${SAMPLE}`);
  });
});
