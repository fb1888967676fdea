import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { blockWith } from './documents.ts';
import { replaceEach, useNginx } from './front.ts';
import { isInstalled } from './installed.ts';
import { findFreePort, startProcess } from './process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/* Proxies with the configurations of docs/proxies.md, in which only addresses are replaced. They run until the test ends. */

const DOCUMENT = 'docs/proxies.md';

export const findCaddy = () => isInstalled('caddy', `the Caddyfile of ${DOCUMENT}`);

/** The settings in the document for a path of another site. */
export const SUB_PATH_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  blockWith(DOCUMENT, 'BASE_URL=https://example.org/pennant')
    .split('\n')
    .map((line) => line.split('=', 2)),
);

interface Ports {
  readonly port: number;
  readonly consolePort: number;
}

/** An nginx with the document's server and another one. @returns its port */
export async function useNginxSite({ port }: Pick<Ports, 'port'>): Promise<number> {
  const frontPort = await findFreePort();
  const site = replaceEach(blockWith(DOCUMENT, 'server_name img.example.org;'), [
    ['listen 80;', `listen 127.0.0.1:${frontPort};`],
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
  ]);
  const other = `server { listen 127.0.0.1:${frontPort} default_server; return 200 'the other site'; }`;
  await useNginx(`${other}\n${site}`, await createTemporaryDirectory());
  return frontPort;
}

/** The login of the console is "operator", with the password "secret". @returns the port of nginx */
export async function useNginxBelowPath({ port, consolePort }: Ports): Promise<number> {
  const directory = await createTemporaryDirectory();
  const passwords = join(directory, 'htpasswd');
  await writeFile(passwords, 'operator:{PLAIN}secret\n');
  const frontPort = await findFreePort();
  const locations = [blockWith(DOCUMENT, 'location /pennant/'), blockWith(DOCUMENT, 'location /pennant-console/')];
  const server = replaceEach(locations.join('\n'), [
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
    ['127.0.0.1:8081', `127.0.0.1:${consolePort}`],
    ['/etc/nginx/pennant.htpasswd', passwords],
  ]);
  await useNginx(`server { listen 127.0.0.1:${frontPort}; ${server} }`, directory);
  return frontPort;
}

/** @returns the port of Caddy */
export function useCaddySite({ port }: Pick<Ports, 'port'>): Promise<number> {
  return useCaddy(blockWith(DOCUMENT, 'img.example.org {', 'caddy'), port);
}

/** @returns the port of Caddy */
export function useCaddyBelowPath({ port }: Pick<Ports, 'port'>): Promise<number> {
  return useCaddy(blockWith(DOCUMENT, 'handle_path'), port);
}

/** Without certificates. */
async function useCaddy(site: string, port: number): Promise<number> {
  const directory = await createTemporaryDirectory();
  const file = join(directory, 'Caddyfile');
  const frontPort = await findFreePort();
  const plain = replaceEach(site, [
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
    ['example.org {', `example.org:${frontPort} {`],
  ]);
  await writeFile(file, `{\n  admin off\n}\nhttp://${plain}\n`);
  const env = { PATH: process.env.PATH, HOME: directory };
  const caddy = startProcess('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env });
  onTestFinished(async () => {
    caddy.child.kill('SIGTERM');
    await caddy.ended;
  });
  await caddy.printed(/serving initial configuration/);
  return frontPort;
}
