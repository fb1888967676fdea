import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeImage, fetchNewImage } from '../helpers/image.ts';
import { type ServiceProcess, startService } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* The package as users get it: packed, installed into an empty folder, started. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPLE = 'UCPennantSample00000001A';
const INSTALL_MS = 180_000;
/** With this, `npx` and the shebang find the project's Node before the machine's. */
const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
/** Vitest sets a `BASE_URL`, which the service would read as its setting. */
const ENVIRONMENT = { ...process.env, PATH, BASE_URL: undefined };

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(directory: string, command: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd: directory, env: ENVIRONMENT }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

async function npm(directory: string, ...args: string[]): Promise<string> {
  const given = [...args, '--no-audit', '--no-fund', '--prefer-offline'];
  const { exitCode, stdout, stderr } = await run(directory, 'npm', ...given);
  if (exitCode !== 0) throw new Error(`npm ${given.join(' ')}\n${stderr}${stdout}`);
  return stdout;
}

let directory: string;
let tarball: string;
/** Where the package is installed. The path has no links, like the path of a working directory. */
let home: string;
let packed: string[];

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'pennant-package-')));
  const [made] = JSON.parse(await npm(ROOT, 'pack', '--json', '--pack-destination', directory)) as [
    { filename: string; files: { path: string }[] },
  ];
  packed = made.files.map(({ path }) => path);
  tarball = join(directory, made.filename);
  home = join(directory, 'home');
  await mkdir(home);
  await npm(home, 'install', tarball);
}, INSTALL_MS);

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the package', () => {
  test('contains the program and the documents for operators, but no development files', () => {
    expect(new Set(packed.map((path) => path.split('/')[0]))).toEqual(
      new Set([
        '.env.example',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'deploy',
        'dist',
        'docs',
        'package.json',
        'samples',
      ]),
    );
    expect(packed.filter((path) => /\.(ts|map|tsbuildinfo)$|\.test\.|tsconfig|Dockerfile/.test(path))).toEqual([]);
  });

  test('brings every package that it needs, and no other', async () => {
    // Exits with an error if one is missing, not needed or of another version.
    const tree = JSON.parse(await npm(home, 'ls', '--all', '--json')) as { dependencies: Record<string, unknown> };
    expect(Object.keys(tree.dependencies)).toEqual(['pennant-server']);
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const installed = await readdir(join(home, 'node_modules'), { recursive: true });
    expect(installed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(installed).not.toContain('typescript');
  });
});

describe('the installed service', () => {
  let service: ServiceProcess;
  let filesBefore: string[];

  beforeAll(async () => {
    filesBefore = await readdir(home);
    const program = [join(home, 'node_modules/.bin/pennant')];
    service = await startService({ directory: home, program, env: { PATH } });
  });
  afterAll(() => void service?.child.kill('SIGKILL'));

  test('serves records, its own documents and images', async () => {
    const record = await fetch(`${service.base}/api/channel/pennantsample?type=handle`);
    expect(await record.json()).toMatchObject({ channelId: SAMPLE, title: 'Pennant Sample' });
    expect((await fetch(`${service.base}/favicon.ico`)).status).toBe(200);
    const image = await fetchNewImage(`${service.base}/${SAMPLE}/mobile.avif`);
    expect(await decodeImage(image)).toMatchObject({ format: 'avif' });
  });

  test.each(['/', '/playground/'])('has the page %s and every file that it refers to', async (path) => {
    const page = new URL(path, service.inside);
    const seen = new Set<string>();
    const waiting = [page.href];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (seen.has(url)) continue;
      seen.add(url);
      const response = await fetch(url);
      expect([url, response.status]).toEqual([url, 200]);
      const references = (await response.text()).matchAll(/(?: from |src=|<link[^>]* href=)['"]([^'"$]+)['"]/g);
      for (const [, reference = ''] of references) waiting.push(new URL(reference, url).href);
    }
    // The page, its script, its style sheet and its icon.
    expect(seen.size).toBeGreaterThanOrEqual(4);
  });

  test('has commands, which npx runs', async () => {
    const { exitCode, stdout } = await run(home, 'npx', 'pennant', 'settings');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('BASE_URL')]);
  });

  test('stops cleanly, and has written only to its data directory', async () => {
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(await readdir(home)).toEqual([...filesBefore, 'data'].sort());
  });
});

describe('the launcher', () => {
  /** The launcher without the program: a file that is loaded before the check would be missing. */
  async function copyLauncher(): Promise<string> {
    const copy = await createTemporaryDirectory();
    await cp(join(home, 'node_modules/pennant-server/package.json'), join(copy, 'package.json'));
    await mkdir(join(copy, 'dist'));
    await cp(join(home, 'node_modules/pennant-server/dist/pennant.js'), join(copy, 'dist/pennant.js'));
    return join(copy, 'dist/pennant.js');
  }

  /** Runs a file with this Node under another version number. */
  function runAs(version: string, launcher: string, cwd = directory): Promise<Ended> {
    const disguise = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    return run(cwd, process.execPath, '-e', `${disguise}; import(${JSON.stringify(launcher)})`);
  }

  async function olderPrograms(): Promise<string[]> {
    const programs = new Set(PATH.split(delimiter).map((folder) => join(folder, 'node')));
    const older: string[] = [];
    for (const program of programs) {
      if (existsSync(program) && majorOf((await run(directory, program, '--version')).stdout) < 24) older.push(program);
    }
    return older;
  }

  test('reports the needed Node and the current one on an older Node, and loads nothing', async () => {
    const launcher = await copyLauncher();
    expect(await runAs('22.99.1', launcher)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `Pennant needs Node 24 or newer; this is Node 22.99.1 (${process.execPath}).\nInstall one here: npm install node@24\n`,
    });
    for (const program of await olderPrograms()) {
      const ended = await run(directory, program, launcher);
      expect(ended).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^Pennant needs Node 24/) });
    }
  });

  test('of a clone reports the older Node, or the missing packages, too', async () => {
    const launcher = join(ROOT, 'scripts/build.js');
    const old = /^Pennant needs Node 24 or newer; this is Node 20\.20\.2 .*\n.* Install it now: npm rebuild node/;
    const missing = 'The packages are not installed yet. Install them: npm ci\n';
    for (const [cwd, stderr] of [
      [ROOT, expect.stringMatching(old)],
      [await createTemporaryDirectory(), missing],
    ] as const)
      expect(await runAs('20.20.2', launcher, cwd)).toEqual({ exitCode: 1, stdout: '', stderr });
  });

  test('starts the program on the oldest supported Node', async () => {
    const ended = await runAs('24.0.0', await copyLauncher());
    expect(ended.stderr).not.toContain('Pennant needs');
    expect(ended.stderr).toMatch(/Cannot find module .*dist\/main\.js/);
  });
});

function majorOf(version: string): number {
  return Number.parseInt(version.replace('v', ''), 10);
}
