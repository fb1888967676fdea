import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
import { findNginx, useFakeInstances, useFront } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';

/* deploy/nginx.conf in a real nginx: the playground at its own host name. */

const SITE = fileURLToPath(new URL('../../dist/site/', import.meta.url));
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
  webp: 'image/webp',
  jpg: 'image/jpeg',
};

const instances = useFakeInstances(respondWithJson({}, 404, { 'cache-control': 'no-store' }));
const front = useFront(instances);

/** `fetch` cannot choose the host name. */
async function ask(path: string, host = 'play.pennant.example') {
  const client = createHttpSender(front.port);
  const { status, headers, bytes } = await client.send({ url: path, headers: { host, connection: 'close' } });
  return { status, headers, body: bytes.toString() };
}

describe.skipIf(!findNginx())('the host of the playground', () => {
  test('serves every file of dist/site/ that a browser needs, and no others', async () => {
    for (const name of readdirSync(SITE, { encoding: 'utf8', recursive: true })) {
      const mediaType = MEDIA_TYPES[name.split('.').at(-1) ?? ''];
      const { status, headers, body } = await ask(`/${name}`);
      expect([name, status]).toEqual([name, mediaType === undefined ? 404 : 200]);
      if (mediaType === undefined) continue;
      expect(headers['content-type']).toBe(mediaType);
      if (name !== 'index.html') expect(body).toBe(readFileSync(SITE + name, 'utf8'));
    }
    expect((await ask('/../deploy/nginx.conf')).status).not.toBe(200);
    expect(instances.received).toHaveLength(0);
  });

  test('serves the page with the whole URL of its share preview', async () => {
    const { headers, body } = await ask('/');
    const image = '<meta property="og:image" content="';
    const source = readFileSync(`${SITE}index.html`, 'utf8');
    expect(source).toContain(`${image}share.jpg"`);
    expect(body).toBe(source.replace(image, `${image}https://play.pennant.example/`));
    expect(headers.etag).toMatch(/^W\//);
  });

  test('sends the same header fields with the playground as the private listener', async () => {
    const service = await startForTest();
    const { headers } = await service.console('/playground/');
    const names = [
      'cache-control',
      'content-security-policy',
      'cross-origin-opener-policy',
      'referrer-policy',
      'x-content-type-options',
    ];
    const expected = Object.fromEntries(names.map((name) => [name, headers[name]]));
    expect((await ask('/')).headers).toMatchObject(expected);
    expect((await ask('/main.js')).headers).toMatchObject(expected);
  });

  test('tells the playground the address of the service', async () => {
    const { headers, body } = await ask('/config.json');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({ instance: 'https://img.pennant.example' });
  });

  test('is the only host with the playground: instances respond at all other names', async () => {
    for (const path of ['/', '/index.html', '/playground/tv', '/config.json']) {
      const { headers } = await ask(path, 'img.pennant.example');
      expect(headers['content-type']).toBe('application/json');
    }
    expect(instances.received).toHaveLength(4);
  });
});
