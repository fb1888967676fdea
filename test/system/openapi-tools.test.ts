import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';

/* What other people's programs make of /openapi.json: two linters, and a generator of typed clients. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const SPECTRAL = fileURLToPath(import.meta.resolve('@stoplight/spectral-cli/dist/index.js'));
const GENERATOR = fileURLToPath(new URL('bin/cli.js', import.meta.resolve('openapi-typescript/package.json')));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const OLDER_TYPESCRIPT = new URL('./older-typescript.ts', import.meta.url).href;

const run = promisify(execFile);

let service: TestApp;
let base: string;
/** Of the tools: no configuration of theirs lies in it or above it. */
let directory: string;
beforeAll(async () => {
  service = await startTestApp({ env: { CONTACT: 'ops@pennant.example' } });
  base = `http://127.0.0.1:${await service.listen()}`;
  directory = join(service.dataDir, 'tools');
  await mkdir(directory);
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await writeFile(join(directory, 'openapi.json'), (await service.get('/openapi.json')).bytes);
});
afterAll(() => service.close());

interface Ended {
  readonly code?: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Also where the program fails: what it has printed says why. */
async function runTool(...args: readonly string[]): Promise<Ended> {
  // Redocly would report its use, and look for a newer version.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return run(process.execPath, args, { cwd: directory, env }).catch((error: Ended) => error);
}

test('Redocly’s recommended rules find nothing', async () => {
  const { stdout, stderr } = await runTool(REDOCLY, 'lint', '--extends=recommended', '--format=json', 'openapi.json');
  expect(JSON.parse(stdout), stderr).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
});

test('Spectral’s rules for OpenAPI find nothing', async () => {
  await writeFile(join(directory, 'ruleset.json'), JSON.stringify({ extends: ['spectral:oas'] }));
  const { code, stdout } = await runTool(SPECTRAL, 'lint', '-r', 'ruleset.json', '-F', 'hint', 'openapi.json');
  expect(code, stdout).toBeUndefined();
  expect(stdout).toContain('No results');
});

const CLIENT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.ts';

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });

const record = await client.GET('/api/channel/{identifier}', {
  params: { path: { identifier: 'pennantsample' }, query: { type: 'handle' } },
});
if (record.data === undefined) throw new Error(record.error.detail);
const channel: components['schemas']['ChannelRecord'] = record.data;
const subscribers: string | null = channel.subscriberCount;

const search = await client.GET('/api/search', { params: { query: { q: 'pennant', limit: 3 } } });
const titles: string[] = search.data?.results.map(({ title }) => title) ?? [];

const picture = await client.GET('/api/banner/{identifier}', {
  params: { path: { identifier: channel.channelId }, query: { type: 'avatar', format: 'png', width: 48 } },
  parseAs: 'blob',
});
const image: Blob | undefined = picture.data;

const missing = await client.GET('/channel/{identifier}', { params: { path: { identifier: 'nobody' } } });
const problem: components['schemas']['Problem'] | undefined = missing.error;

console.log(JSON.stringify({ subscribers, titles, image: image?.type, code: problem?.code }));
`;

test('a client that openapi-typescript has made compiles strictly and works', async () => {
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  await writeFile(join(directory, 'client.ts'), CLIENT);
  await writeFile(
    join(directory, 'tsconfig.json'),
    // The generated types are checked too.
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      include: ['*.ts'],
      compilerOptions: { lib: ['es2024', 'dom'] },
    }),
  );
  const made = await runTool('--import', OLDER_TYPESCRIPT, GENERATOR, `${base}/openapi.json`, '-o', 'schema.ts');
  expect(made.code, made.stderr).toBeUndefined();
  expect(await runTool(COMPILER, '-p', '.')).toEqual({ stdout: '', stderr: '' });
  const used = await runTool('client.ts', base);
  expect(JSON.parse(used.stdout), used.stderr).toEqual({
    subscribers: '1284000',
    titles: expect.arrayContaining(['Pennant Sample']),
    image: 'image/png',
    code: 'invalid_parameter',
  });
});
