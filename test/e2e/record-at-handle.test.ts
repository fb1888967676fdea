import { expect, test } from 'vitest';
import { startWithoutEncoder, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

const SAMPLE = 'UCPennantSample00000001A';
const JSON_TYPE = 'application/json; charset=utf-8';

const service = useTestApp({ encoder: createFakeEncoder() });

async function typeOf(url: string, accept: string, app = service): Promise<unknown[]> {
  const { status, headers } = await app.get(url, { accept });
  return [status, headers['content-type'], headers.vary];
}

test.each([
  'application/json',
  'Application/JSON;charset=utf-8',
  'application/json, text/plain, */*',
  'text/html;q=0.1, application/json;q=0.2',
  'application/json, image/png;q=0',
])('/@handle returns the record for Accept: %s', async (accept) => {
  const response = await service.get('/@PennantSample', { accept });
  const record = await service.get(`/api/channel/${SAMPLE}`);
  expect([response.status, response.headers['content-type'], response.headers.vary]).toEqual([
    200,
    JSON_TYPE,
    'Accept',
  ]);
  expect([response.text, response.headers.etag]).toEqual([record.text, record.headers.etag]);
  expect(response.headers['cache-control']).toMatch(/^public, max-age=3[56]\d\d$/);
});

test.each([
  ['/@pennantsample', '*/*'],
  ['/@pennantsample', 'application/*'],
  ['/@pennantsample', 'application/problem+json'],
  ['/@pennantsample', 'application/json;q=0'],
  ['/@pennantsample', 'application/json, image/*;q=0.1'],
  ['/@pennantsample?type=default', 'application/json'],
  [`/${SAMPLE}`, 'application/json'],
  ['/@pennantsample/tv', 'application/json'],
  ['/api/banner/@pennantsample', 'application/json'],
])('%s returns the image for Accept: %s', async (url, accept) => {
  expect(await typeOf(url, accept)).toEqual([200, 'image/jpeg', 'Accept']);
});

test('a URL with a format returns the image without Vary', async () => {
  expect(await typeOf('/@pennantsample?format=webp', 'application/json')).toEqual([200, 'image/webp', undefined]);
});

test('an encoded @ is accepted', async () => {
  expect(await typeOf('/%40pennantsample', 'application/json')).toEqual([200, JSON_TYPE, 'Accept']);
});

test('with NEGOTIATE=off, /@handle always returns the image', async () => {
  const fixed = await startWithoutEncoder({ env: { NEGOTIATE: 'off' } });
  expect(await typeOf('/@pennantsample', 'application/json', fixed)).toEqual([200, 'image/jpeg', undefined]);
});

test('the micro-cache and conditional requests keep record and image apart', async () => {
  const ask = (accept: string, headers: Record<string, string> = {}) =>
    service.get('/@pennantsample', { accept, ...headers });
  // The second response of each is a hit, which the micro-cache stores.
  for (const [accept, type] of [
    ['image/webp', 'image/webp'],
    ['application/json', JSON_TYPE],
    ['image/webp', 'image/webp'],
    ['application/json', JSON_TYPE],
    ['image/webp', 'image/webp'],
    ['application/json', JSON_TYPE],
  ] as const) {
    expect((await ask(accept)).headers['content-type']).toBe(type);
  }
  const [image, record] = [await ask('image/webp'), await ask('application/json')];
  const imageEtag = String(image.headers.etag);
  const recordEtag = String(record.headers.etag);
  expect((await ask('application/json', { 'if-none-match': imageEtag })).status).toBe(200);
  expect((await ask('image/webp', { 'if-none-match': recordEtag })).status).toBe(200);
  const confirmed = await ask('application/json', { 'if-none-match': recordEtag });
  expect([confirmed.status, confirmed.headers.vary, confirmed.headers['last-modified']]).toEqual([
    304,
    'Accept',
    undefined,
  ]);
  const since = String(image.headers['last-modified']);
  expect((await ask('application/json', { 'if-modified-since': since })).status).toBe(200);
});

test('an unknown handle gets the same 404 for both, with Vary', async () => {
  for (const accept of ['application/json', 'image/webp']) {
    expect(await typeOf('/@nobodyhasthisone', accept)).toEqual([404, 'application/problem+json', 'Accept']);
  }
});
