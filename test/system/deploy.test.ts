import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/settings.ts';
import { blockWith } from '../helpers/documents.ts';
import { decodeImage, fetchNewImage } from '../helpers/image.ts';
import { findFreePort, type StartedProcess, startProcess } from '../helpers/process.ts';

/*
 * The container files, checked without a container engine: the image's files are assembled by the Dockerfile's
 * instructions and started as an ordinary user.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPLE = 'UCPennantSample00000001A';
/** `nobody` on every Linux. */
const ORDINARY_USER = 65_534;
const INSTALL_MS = 180_000;

const run = promisify(execFile);
const readDeployed = (name: string) => readFile(join(ROOT, 'deploy', name), 'utf8');

/** `docker build … && docker run …` in docs/operating.md, as words. */
function dockerCommands(): { readonly build: string[]; readonly run: string[] } {
  const commands = blockWith('docs/operating.md', 'docker build ').split(' && ');
  const [build = [], started = []] = commands.map((command) => command.split(' '));
  return { build, run: started };
}

test('docs/operating.md builds the image, and runs it with its port and its volume', async () => {
  const image = parseDockerfile(await readDeployed('Dockerfile')).at(-1) as Stage;
  const { build, run: started } = dockerCommands();
  const optionOf = (command: readonly string[], name: string) => command[command.indexOf(name) + 1];
  expect(optionOf(build, '-f')).toBe('deploy/Dockerfile');
  expect(optionOf(build, '-t')).toBe(started.at(-1));
  expect(optionOf(started, '-p')?.split(':').slice(1)).toEqual(image.ports);
  expect(image.ports).toEqual([String(parseConfig({}).port)]);
  expect(started).toContain('127.0.0.1:8081:8081');
  expect(optionOf(started, '-v')?.split(':').slice(1)).toEqual(image.volumes);
  expect(image.volumes).toEqual([image.environment.DATA_DIR]);
  // Commands write temporary files, also where the root file system is read-only.
  expect(image.volumes).toEqual([image.environment.TMPDIR]);
});

describe('the image', () => {
  let directory: string;
  let appDir: string;
  let node: string;
  let image: Stage;
  let started: StartedProcess;
  let base: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pennant-image-'));
    await chmod(directory, 0o755);
    appDir = join(directory, 'app');
    const [build, last] = parseDockerfile(await readDeployed('Dockerfile')) as [Stage, Stage];
    image = last;
    const buildDir = join(directory, 'build');
    for (const { sources, target } of build.copies) await copyAsDocker(sources, join(buildDir, target));
    for (const command of build.commands) await run('sh', ['-c', command], { cwd: buildDir });
    for (const { isBuilt, sources, target } of image.copies) {
      if (!isBuilt) await copyAsDocker(sources, join(appDir, target));
      else await cp(join(buildDir, relative('/app', sources[0] ?? '')), join(appDir, target), { recursive: true });
    }
    await rm(buildDir, { recursive: true });
    node = join(directory, 'node');
    await copyFile(process.execPath, node);
    await chmod(node, 0o755);

    // In the image, root owns everything except /data.
    const elsewhere = join(directory, 'elsewhere');
    const dataDir = join(directory, 'data');
    await mkdir(elsewhere);
    await mkdir(dataDir);
    if (isRoot()) await chown(dataDir, ORDINARY_USER, ORDINARY_USER);
    const [port, consolePort] = [await findFreePort(), await findFreePort()];
    environment = {
      ...image.environment,
      // The image has a system of its own; here the tests' machine is used.
      LD_PRELOAD: '',
      DATA_DIR: dataDir,
      HOME: elsewhere,
      TMPDIR: elsewhere,
      HOST: '127.0.0.1',
      PORT: String(port),
      CONSOLE_PORT: String(consolePort),
      SOURCES: 'catalog',
    };
    started = startProcess(node, image.command.slice(1), { cwd: appDir, env: environment, ...asOrdinaryUser() });
    await started.printed(/listens on/);
    base = `http://127.0.0.1:${port}`;
  }, INSTALL_MS);

  afterAll(async () => {
    started?.child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  test('has the Node version of the project and an ordinary user', async () => {
    const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      devDependencies: { node: string };
    };
    expect(image.image).toBe(`node:${devDependencies.node}-slim`);
    expect(process.versions.node).toBe(devDependencies.node);
    expect(image.user).toBe('node');
    expect(image.command[0]).toBe('node');
  });

  test('contains no tests, no tools and no development files', async () => {
    expect((await readdir(appDir)).sort()).toEqual(['dist', 'node_modules', 'package.json', 'samples']);
    expect(await readdir(join(appDir, 'node_modules'))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(vitest|typescript|node)$/)]),
    );
  });

  test('serves records and images, and passes its own health check', async () => {
    const record = await fetch(`${base}/api/channel/${SAMPLE}`);
    expect([record.status, await record.json()]).toEqual([200, expect.objectContaining({ channelId: SAMPLE })]);
    const image = await fetchNewImage(`${base}/${SAMPLE}/tablet.avif`);
    expect(await decodeImage(image)).toMatchObject({ format: 'avif' });
    expect(checkHealth(environment)).toBe(0);
    expect(checkHealth({ ...environment, CONSOLE_PORT: String(await findFreePort()) })).toBe(1);
    // The check uses CONSOLE_HOST, and the public listener when there is no private one.
    expect(checkHealth({ ...environment, CONSOLE_HOST: '192.0.2.1' })).toBe(1);
    expect(checkHealth({ ...environment, CONSOLE_HOST: '127.0.0.1' })).toBe(0);
    expect(checkHealth({ ...environment, CONSOLE_PORT: '0', HOST: '0.0.0.0' })).toBe(0);
  });

  function checkHealth(env: Record<string, string>): number | null {
    return spawnSync(node, image.healthCheck.slice(1), { env, cwd: appDir, ...asOrdinaryUser() }).status;
  }
});

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asOrdinaryUser(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: ORDINARY_USER, gid: ORDINARY_USER } : {};
}

/** The files that .dockerignore admits: those named with "!", without those that its last rules exclude again. */
async function copyAsDocker(sources: readonly string[], target: string): Promise<void> {
  const rules = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  const endings = rules.filter((rule) => rule.startsWith('**/*')).map((rule) => rule.slice('**/*'.length));
  for (const source of sources) {
    if (!rules.includes(`!${source}`)) throw new Error(`.dockerignore keeps ${source} out of the image`);
    const isDirectory = (await stat(join(ROOT, source))).isDirectory();
    await cp(join(ROOT, source), isDirectory ? target : join(target, basename(source)), {
      recursive: true,
      filter: (path) => !endings.some((ending) => path.endsWith(ending)),
    });
  }
}

type Stage = ReturnType<typeof parseStage>;

/** The stages of a Dockerfile, as far as deploy/Dockerfile goes. */
function parseDockerfile(text: string): Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll('\\\n', ' ');
  return lines
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '))
    .map(parseStage);
}

function parseStage(text: string) {
  const argumentsOf = (instruction: string) =>
    [...text.matchAll(new RegExp(`^${instruction} (.*)`, 'gm'))].map(([, given = '']) => given.trim());
  const listOf = (given = '[]') => JSON.parse(given) as string[];
  return {
    image: argumentsOf('FROM')[0]?.split(' ')[0] ?? '',
    /** Files, with the path that they are copied to. */
    copies: argumentsOf('COPY')
      .map((given) => given.split(/\s+/))
      .map((words) => ({
        /** From the first stage, not from the project. */
        isBuilt: words[0] === '--from=build',
        sources: words.slice(0, -1).filter((word) => !word.startsWith('--from=')),
        target: words.at(-1) as string,
      })),
    commands: argumentsOf('RUN'),
    environment: Object.fromEntries(argumentsOf('ENV').flatMap(assignmentsOf)),
    user: argumentsOf('USER')[0],
    ports: argumentsOf('EXPOSE'),
    volumes: argumentsOf('VOLUME'),
    command: listOf(argumentsOf('CMD')[0]),
    healthCheck: listOf(argumentsOf('HEALTHCHECK')[0]?.replace(/^.*?CMD /, '')),
  };
}

function assignmentsOf(given: string): (readonly [name: string, value: string])[] {
  return [...given.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value] as const);
}
