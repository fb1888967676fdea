import { describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { blockWith } from '../helpers/documents.ts';
import { findNginx, replaceEach, useNginx } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';
import { findFreePort } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* The server of docs/proxies.md in a real nginx that has another site, in front of one instance. */

const ID = 'UCPennantSample00000001A';
const HOST = 'img.example.org';

async function startNginx(instancePort: number) {
  const port = await findFreePort();
  const site = replaceEach(blockWith('docs/proxies.md', 'server_name img.example.org;'), [
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['127.0.0.1:8080', `127.0.0.1:${instancePort}`],
  ]);
  const other = `server { listen 127.0.0.1:${port} default_server; return 200 'the other site'; }`;
  await useNginx(`${other}\n${site}`, await createTemporaryDirectory());
  return {
    /** @param visitor an address of this machine */
    async ask(url: string, headers: Record<string, string> = {}, visitor = '127.0.0.1') {
      const client = createHttpSender(port, visitor);
      onTestFinished(client.close);
      const { bytes, ...response } = await client.send({ url, headers: { host: HOST, ...headers } });
      return { ...response, body: bytes.toString() };
    },
  };
}

describe.skipIf(!findNginx())('one instance behind an nginx with another site', () => {
  test('serves records and images under its own name, with a limit for each visitor', async () => {
    const env = { TRUST_PROXY: '127.0.0.1/32', BASE_URL: `https://${HOST}`, RATE_LIMIT_OVERRIDES: '' };
    const service = await startForTest({ env });
    const { ask } = await startNginx(await service.listen());
    const record = await ask(`/api/channel/${ID}`);
    expect(JSON.parse(record.body).bannerUrl).toBe(`https://${HOST}/api/banner/${ID}`);
    expect(record.headers.ratelimit).toContain('r=9;');
    const forged = await ask(`/api/channel/${ID}`, { 'x-forwarded-for': '198.51.100.7' });
    expect(forged.headers.ratelimit).toContain('r=8;');
    expect((await ask(`/api/channel/${ID}`, {}, '127.0.0.2')).headers.ratelimit).toContain('r=9;');

    const image = await ask(`/${ID}/avatar?width=64`, { accept: 'image/webp' });
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/webp']);
    const sent = { accept: 'image/webp', 'if-none-match': String(image.headers.etag) };
    expect((await ask(`/${ID}/avatar?width=64`, sent)).status).toBe(304);
    expect((await ask('//@pennantsample/a%2Fb')).status).toBe(400);
    expect((await ask('/', { host: 'www.example.org' })).body).toBe('the other site');
  });
});
