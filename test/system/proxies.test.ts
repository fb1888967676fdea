import { describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { findNginx } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';
import {
  findCaddy,
  SUB_PATH_SETTINGS,
  useCaddyBelowPath,
  useCaddySite,
  useNginxBelowPath,
  useNginxSite,
} from '../helpers/proxies.ts';

/* One instance behind real proxies that are configured as in docs/proxies.md. */

const ID = 'UCPennantSample00000001A';
const HOST = 'img.example.org';
const BASE = 'https://example.org/pennant';

describe.skipIf(!findNginx())('behind nginx', () => describeProxy(useNginxSite, useNginxBelowPath));
describe.skipIf(!findCaddy())('behind Caddy', () => describeProxy(useCaddySite, useCaddyBelowPath));

function describeProxy(startSite: typeof useNginxSite, startBelowPath: typeof useNginxBelowPath): void {
  test('a name of its own has records and images, with a limit for each visitor', async () => {
    const env = { TRUST_PROXY: '127.0.0.1/32', BASE_URL: `https://${HOST}`, RATE_LIMIT_OVERRIDES: '' };
    const service = await startForTest({ env });
    const frontPort = await startSite({ port: await service.listen() });
    /** @param visitor an address of this machine */
    async function ask(url: string, headers: Record<string, string> = {}, visitor = '127.0.0.1') {
      const client = createHttpSender(frontPort, visitor);
      onTestFinished(client.close);
      const { bytes, ...response } = await client.send({ url, headers: { host: HOST, ...headers } });
      return { ...response, body: bytes.toString() };
    }

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
    expect((await ask('/@pennantsample/a%2Fb')).status).toBe(400);
    expect((await ask('/', { host: 'www.example.org' })).body).not.toContain('endpoints');
  });

  test('below a path, the index, its examples, records and advice have URLs with the path, and work', async () => {
    const service = await startForTest({ env: { ...SUB_PATH_SETTINGS, RATE_LIMIT_OVERRIDES: '' } });
    const [port, consolePort] = [await service.listen(), await service.listen(service.app.console)];
    const frontPort = await startBelowPath({ port, consolePort });
    let visitors = 0;
    /** Each request comes from another address, because the limit is the default one. */
    async function ask(path: string) {
      visitors += 1;
      const client = createHttpSender(frontPort, `127.0.4.${visitors}`);
      onTestFinished(client.close);
      const { status, headers, bytes } = await client.send({ url: path, headers: { host: 'example.org' } });
      return { status, headers, text: bytes.toString() };
    }

    const index = JSON.parse((await ask('/pennant/')).text) as { endpoints: { example?: string }[] };
    const examples = index.endpoints.flatMap(({ example }) => example ?? []);
    expect(examples.length).toBeGreaterThan(5);
    for (const example of examples) {
      expect(example.startsWith(`${BASE}/`), example).toBe(true);
      const { status, headers } = await ask(new URL(example).pathname + new URL(example).search);
      // The limit counts the visitor's address, not that of the proxy.
      expect([example, status, headers.ratelimit]).toEqual([example, 200, '"default";r=9;t=30']);
    }

    const { avatarUrl } = JSON.parse((await ask('/pennant/c/h%C3%B6henkamm')).text) as { avatarUrl: string };
    const image = await ask(new URL(avatarUrl).pathname + new URL(avatarUrl).search);
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/jpeg']);
    const wrong = JSON.parse((await ask('/pennant/pennantsample')).text) as { type: string; detail: string };
    expect(wrong).toMatchObject({ type: `${BASE}/problems#route_not_found` });
    const [, advised = ''] = /Did you mean (\S+)\?/.exec(wrong.detail) ?? [];
    expect([advised, (await ask(advised)).status]).toEqual(['/pennant/@pennantsample', 200]);
  });
}
