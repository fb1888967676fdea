import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { findNginx } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';
import { isInstalled } from '../helpers/installed.ts';
import { startProcess } from '../helpers/process.ts';
import { SUB_PATH_SETTINGS, useNginxBelowPath, writeCaddyfile } from '../helpers/sub-path.ts';

/* The service below a path of another site, behind real proxies that are configured as in docs/installing.md. */

const BASE = 'https://example.org/pennant';

async function start() {
  const service = await startForTest({ env: { ...SUB_PATH_SETTINGS, RATE_LIMIT_OVERRIDES: '' } });
  const [port, consolePort] = [await service.listen(), await service.listen(service.app.console)];
  return { port, consolePort };
}

async function startCaddy(ports: { readonly port: number }): Promise<number> {
  const { file, port } = await writeCaddyfile(ports);
  const env = { PATH: process.env.PATH, HOME: dirname(file) };
  const caddy = startProcess('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env });
  onTestFinished(async () => {
    caddy.child.kill('SIGTERM');
    await caddy.ended;
  });
  await caddy.printed(/serving initial configuration/);
  return port;
}

describe.each([
  { proxy: 'nginx', isThere: findNginx(), startProxy: useNginxBelowPath },
  { proxy: 'Caddy', isThere: isInstalled('caddy', 'the Caddyfile of docs/installing.md'), startProxy: startCaddy },
])('below a path of $proxy', ({ isThere, startProxy }) => {
  test.skipIf(!isThere)('the index, its examples, records and advice have URLs with the path, and work', async () => {
    const frontPort = await startProxy(await start());
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
});
