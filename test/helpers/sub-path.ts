import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blockWith } from './documents.ts';
import { replaceEach, useNginx } from './front.ts';
import { findFreePort } from './process.ts';
import { createTemporaryDirectory } from './temporary-directory.ts';

/* The configurations of docs/installing.md for a service below a path of another site. */

const DOCUMENT = 'docs/installing.md';

/** The settings in the document. */
export const SUB_PATH_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  blockWith(DOCUMENT, 'BASE_URL=https://example.org/pennant')
    .split('\n')
    .map((line) => line.split('=', 2)),
);

interface Ports {
  readonly port: number;
  readonly consolePort: number;
}

/** Starts nginx for the test. The login of the console is "operator", with the password "secret". @returns its port */
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

/** Writes the document's Caddyfile, for plain HTTP. @returns the file and the port */
export async function writeCaddyfile({ port }: Pick<Ports, 'port'>) {
  const file = join(await createTemporaryDirectory(), 'Caddyfile');
  const frontPort = await findFreePort();
  const site = replaceEach(blockWith(DOCUMENT, 'handle_path'), [
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
    ['example.org {', `http://example.org:${frontPort} {`],
  ]);
  await writeFile(file, `{\n  admin off\n}\n${site}\n`);
  return { file, port: frontPort };
}
