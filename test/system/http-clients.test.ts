import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';

/*
 * Clients that offer HTTP/2 without TLS (`Upgrade: h2c`) with every request, by default or by an option.
 */

const run = promisify(execFile);
const ASK_IN_TURN = fileURLToPath(new URL('../fixtures/clients/AskInTurn.java', import.meta.url));
/** Java compiles the file first, which takes long on a busy machine. */
const CLIENT_MS = 60_000;
const PATHS = [
  '/channel/UCPennantSample00000001A',
  '/UCPennantSample00000001A/avatar.jpg?width=48',
  '/problems',
  '/4k',
];

function isInstalled(command: string, version: string): boolean {
  return spawnSync(command, [version]).status === 0;
}

let service: TestApp;
let urls: string[];
const sizes: number[] = [];
beforeAll(async () => {
  service = await startTestApp();
  const port = await service.listen();
  urls = PATHS.map((path) => `http://127.0.0.1:${port}${path}`);
  for (const url of urls) sizes.push((await (await fetch(url)).bytes()).length);
});
afterAll(() => service.close());

/** Request IDs are part of an error's size. Here they all have the same length. */
function expectedLines(version: string): string[] {
  return [
    `200 ${version} application/json; charset=utf-8 ${sizes[0]}`,
    `200 ${version} image/jpeg ${sizes[1]}`,
    `200 ${version} application/json; charset=utf-8 ${sizes[2]}`,
    `404 ${version} application/problem+json ${sizes[3]}`,
  ];
}

describe.skipIf(!isInstalled('java', '-version'))('Java’s HttpClient', () => {
  test(
    'gets the response to each of its requests, with its default settings',
    async () => {
      const { stdout } = await run('java', [ASK_IN_TURN, ...urls], { timeout: CLIENT_MS });
      expect(stdout.trim().split('\n')).toEqual(expectedLines('HTTP_1_1'));
    },
    CLIENT_MS,
  );
});

describe.skipIf(!isInstalled('curl', '--version'))('curl --http2', () => {
  test('gets the response to each of its requests, over one connection', async () => {
    const format = '%{http_code} HTTP/%{http_version} %{content_type} %{size_download} %{num_connects}\\n';
    const eachToNowhere = urls.flatMap((url) => ['-o', '/dev/null', url]);
    const { stdout } = await run('curl', ['-s', '--http2', '-w', format, ...eachToNowhere], { timeout: CLIENT_MS });
    const connects = [1, 0, 0, 0];
    expect(stdout.trim().split('\n')).toEqual(
      expectedLines('HTTP/1.1').map((line, request) => `${line} ${connects[request]}`),
    );
  });
});
