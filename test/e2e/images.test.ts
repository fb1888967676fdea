import { describe, expect, test } from 'vitest';
import { startWithoutEncoder, useTestApp } from '../helpers/app.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { decodeImage } from '../helpers/image.ts';

const SAMPLE = 'UCPennantSample00000001A';
const BARE_SAMPLE = 'UCPennantSample00000002A';

const service = useTestApp({ encoder: sharedEncoder() });

const SIZES = {
  default: [2560, 423],
  tv: [2560, 1440],
  desktop: [2560, 423],
  tablet: [1855, 423],
  mobile: [1546, 423],
  avatar: [800, 800],
} as const;

describe('images', () => {
  test.each(Object.entries(SIZES))('%s has its size in every path form', async (variant, [width, height]) => {
    const forms = [
      `/api/banner/${SAMPLE}?type=${variant}`,
      `/api/banner/${SAMPLE}/${variant}`,
      `/${SAMPLE}/${variant}`,
    ];
    const bodies = [];
    for (const url of [
      ...forms,
      `/${SAMPLE}?type=${variant}`,
      `/@pennantsample/${variant}`,
      `/pennantsample/${variant}`,
    ]) {
      const response = await service.get(url);
      expect([url, response.status]).toEqual([url, 200]);
      bodies.push(response.bytes);
    }
    expect(new Set(bodies.map((bytes) => bytes.toString('base64'))).size).toBe(1);
    const image = await decodeImage(bodies[0] as Buffer);
    expect(Math.abs(image.width - width)).toBeLessThanOrEqual(1);
    expect(Math.abs(image.height - height)).toBeLessThanOrEqual(1);
  });

  test.each([
    ['/api/banner/{id}', 'jpeg'],
    ['/{id}', 'jpeg'],
    ['/{id}.jpg?width=300', 'jpeg'],
    ['/{id}.webp?width=300', 'webp'],
    ['/api/banner/{id}.png?width=300', 'png'],
    ['/{id}/mobile.avif?width=300', 'avif'],
    ['/{id}/mobile.jpg?width=300', 'jpeg'],
    ['/{id}?format=avif&width=300', 'avif'],
    ['/{id}?format=webp&width=300', 'webp'],
    ['/{id}?format=jpg&width=300', 'jpeg'],
    ['/{id}?format=png&width=300', 'png'],
  ])('%s is %s', async (template, format) => {
    const response = await service.get(template.replace('{id}', SAMPLE));
    expect([response.status, response.headers['content-type']]).toEqual([200, `image/${format}`]);
    expect((await decodeImage(response.bytes)).format).toBe(format);
    expect(response.headers['content-length']).toBe(String(response.bytes.length));
  });

  test.each([
    [undefined, 'jpeg'],
    ['*/*', 'jpeg'],
    ['image/*', 'jpeg'],
    ['image/avif,image/webp,*/*;q=0.8', 'avif'],
    ['image/webp,*/*', 'webp'],
    ['image/avif;q=0.5,image/webp', 'webp'],
    ['image/avif;q=0,image/webp;q=0', 'jpeg'],
    ['IMAGE/AVIF', 'avif'],
    ['image/avif;q=nonsense', 'jpeg'],
    ['text/html', 'jpeg'],
  ])('with Accept %s the format is %s', async (accept, format) => {
    const response = await service.get(`/${SAMPLE}/mobile?width=200`, accept === undefined ? {} : { accept });
    expect(response.headers['content-type']).toBe(`image/${format}`);
    expect(response.headers.vary).toBe('Accept');
  });

  test('vary by Accept in every response of a negotiated URL and in no other', async () => {
    const first = await service.get(`/${SAMPLE}/mobile?width=200`);
    const confirmed = await service.get(`/${SAMPLE}/mobile?width=200`, { 'if-none-match': String(first.headers.etag) });
    expect([confirmed.status, confirmed.headers.vary]).toEqual([304, 'Accept']);
    expect((await service.get(`/${BARE_SAMPLE}/tv`)).headers.vary).toBe('Accept');
    expect((await service.get(`/${SAMPLE}/mobile.webp?width=200`)).headers.vary).toBeUndefined();
    expect((await service.get(`/${SAMPLE}/mobile?width=200&format=webp`)).headers.vary).toBeUndefined();
  });

  test('ignore Accept with NEGOTIATE=off', async () => {
    const fixed = await startWithoutEncoder({ env: { NEGOTIATE: 'off' } });
    const response = await fixed.get(`/${SAMPLE}/mobile?width=200`, { accept: 'image/avif' });
    expect([response.headers['content-type'], response.headers.vary]).toEqual(['image/jpeg', undefined]);
  });

  test('have the header fields that caches and browsers need', async () => {
    const { headers } = await service.get(`/${SAMPLE}/tablet.webp`);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=86400',
      'content-disposition': `inline; filename="${SAMPLE}-tablet.webp"`,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      'timing-allow-origin': '*',
    });
    expect(headers['x-request-id']).toBeTruthy();
    expect(Date.parse(String(headers['last-modified']))).toBe(Math.floor(service.clock.now() / 1000) * 1000);
  });

  test('of the type "phone" are those of "mobile", and only "mobile" is a path segment', async () => {
    const mobile = await service.get(`/${SAMPLE}/mobile.webp`);
    const phone = await service.get(`/${SAMPLE}?type=phone&format=webp`);
    expect(phone.headers).toMatchObject({
      etag: mobile.headers.etag,
      'content-disposition': mobile.headers['content-disposition'],
      'cache-status': expect.stringMatching(/^pennant; hit/),
    });
    expect((await service.get(`/${SAMPLE}/tv?type=phone`)).status).toBe(400);
    expect((await service.get(`/${SAMPLE}/phone`)).status).toBe(404);
  });

  test('are one image for all requests that result in the same size', async () => {
    const plain = await service.get(`/${SAMPLE}/avatar.webp`);
    for (const query of ['width=800', 'width=801', 'height=4096', 'width=900&height=900']) {
      const response = await service.get(`/${SAMPLE}/avatar.webp?${query}`);
      expect([query, response.headers.etag]).toEqual([query, plain.headers.etag]);
    }
    expect((await service.get(`/${SAMPLE}/avatar.webp?width=799`)).headers.etag).not.toBe(plain.headers.etag);
    expect((await service.get(`/${SAMPLE}/avatar.webp?quality=82`)).headers.etag).toBe(plain.headers.etag);
    expect((await service.get(`/${SAMPLE}/avatar.png?quality=5`)).headers.etag).toBe(
      (await service.get(`/${SAMPLE}/avatar.png`)).headers.etag,
    );
  });

  test.each([
    ['width=400', 400, 400],
    ['height=100', 100, 100],
    ['width=400&height=200', 400, 200],
    ['width=1&height=1', 1, 1],
    ['width=4096', 800, 800],
  ])('with %s measure %i by %i', async (query, width, height) => {
    const image = await decodeImage((await service.get(`/${SAMPLE}/avatar?${query}`)).bytes);
    expect([image.width, image.height]).toEqual([width, height]);
  });

  test('that a channel does not have are 404, never a placeholder', async () => {
    for (const url of [`/${BARE_SAMPLE}`, `/${BARE_SAMPLE}/tv`, `/api/banner/${BARE_SAMPLE}?type=mobile`]) {
      const response = await service.get(url);
      expect([response.status, response.json().code]).toEqual([404, 'image_not_found']);
      expect(response.headers['cache-control']).toBe('public, max-age=60');
      expect(response.headers['cache-status']).toBeUndefined();
      expect(response.headers.vary).toBe('Accept');
    }
    expect((await service.get(`/${BARE_SAMPLE}/avatar`)).status).toBe(200);
  });

  test.each([
    [`/${SAMPLE}?type=4k`, 400, 'tv'],
    [`/${SAMPLE}?type=TV`, 400, 'lower case'],
    [`/${SAMPLE}?type=%20tv`, 400, 'Valid: default, tv'],
    [`/${SAMPLE}?format=gif`, 400, 'avif'],
    [`/${SAMPLE}?width=0`, 400, '1 to 4096'],
    [`/${SAMPLE}?width=4097`, 400, '1 to 4096'],
    [`/${SAMPLE}?width=1e3`, 400, '1 to 4096'],
    [`/${SAMPLE}?quality=101`, 400, '1 to 100'],
    [`/${SAMPLE}?height=`, 400, 'empty'],
    [`/${SAMPLE}/tv?type=mobile`, 400, 'leave one of them out'],
    [`/${SAMPLE}/tv.avif?format=webp`, 400, 'leave one of them out'],
    [`/api/banner/${SAMPLE}.gif`, 400, 'extension'],
    ['/api/banner/!!!', 400, 'neither a channel ID'],
    [`/${SAMPLE}/4k`, 404, 'tablet'],
    [`/${SAMPLE}/tv.gif`, 404, 'tablet'],
    [`/${SAMPLE}/4k?type=nonsense`, 404, 'tablet'],
    ['/wp-login.php', 404, 'There is nothing at'],
    ['/pennantsample', 404, 'There is nothing at'],
    ['/a/b/c', 404, 'There is nothing at'],
  ])('are refused at %s with %i and the reason', async (url, status, hint) => {
    const response = await service.get(url);
    expect([response.status, response.headers['content-type']]).toEqual([status, 'application/problem+json']);
    expect(response.json().detail).toContain(hint);
  });

  test('accept the same type in path and query', async () => {
    expect((await service.get(`/${SAMPLE}/tv.webp?type=tv&format=webp&width=99`)).status).toBe(200);
  });
});
