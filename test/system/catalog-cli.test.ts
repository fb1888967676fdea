import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { catalogCommands } from '../../src/cli/catalog.ts';
import { catalogLine, unread } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { launchCommand, PROGRAM, startServiceForTest } from '../helpers/process.ts';
import { runInProcess } from '../helpers/run-command.ts';
import { createFifo, createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const SAMPLES = join(ROOT, 'samples/channels.ndjson');
const SAMPLE_IMAGES = join(ROOT, 'samples/images');

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as `npm run catalog -- …` does. */
function catalog(dataDir: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, 'catalog', ...args],
      // A service of this machine may listen on the default port.
      {
        cwd: dataDir,
        env: { PATH: process.env.PATH, DATA_DIR: dataDir, CONSOLE_PORT: '0' },
        maxBuffer: 64 * 1024 * 1024,
      },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

async function writeLines(directory: string, lines: string[]): Promise<string> {
  const file = join(directory, 'lines.ndjson');
  await writeFile(file, lines.join('\n'));
  return file;
}

describe('a running service', () => {
  it('serves imported channels, and no longer serves removed ones, from the next request on', async () => {
    const directory = await createTemporaryDirectory();
    const dataDir = join(directory, 'data');
    const service = await startServiceForTest({ directory });
    const statusOf = async (path: string) => (await fetch(`${service.base}${path}`)).status;
    const [record, image] = [`/channel/${numberedChannelId(1)}`, '/UCPennantSample00000005A/avatar'];
    expect([await statusOf(record), await statusOf('/user/newcomer'), await statusOf(image)]).toEqual([404, 404, 200]);
    const file = await writeLines(directory, [catalogLine(1, { username: 'Newcomer' })]);
    expect(await catalog(dataDir, 'import', file)).toMatchObject({ exitCode: 0, stderr: '' });
    expect([await statusOf(record), await statusOf('/user/newcomer')]).toEqual([200, 200]);
    // The folder of all instances, which no service reads.
    expect((await catalog(directory, 'import', file)).stderr).toBe(
      `${unread(directory).trimEnd()} One runs on ${dataDir}: name it with --data-dir DIR.\n`,
    );
    expect(await catalog(dataDir, 'remove', numberedChannelId(1))).toMatchObject({ exitCode: 0 });
    expect([await statusOf(record), await statusOf('/user/newcomer')]).toEqual([404, 404]);
    expect(await catalog(dataDir, 'remove', 'UCPennantSample00000005A')).toMatchObject({ exitCode: 0 });
    expect(await statusOf(image)).toBe(404);
  });
});

describe('the catalog command', () => {
  /** With the imported samples. */
  let filledDir: string;
  beforeAll(async () => {
    filledDir = await mkdtemp(join(tmpdir(), 'pennant-test-'));
    expect(await catalog(filledDir, 'import', SAMPLES, '--images', SAMPLE_IMAGES)).toEqual({
      exitCode: 0,
      stdout: 'Channels added: 8, replaced: 0. Lines refused: 0.\n',
      stderr: unread(filledDir),
    });
    return () => rm(filledDir, { recursive: true, force: true });
  });

  async function copyFilled(): Promise<string> {
    const dataDir = await createTemporaryDirectory();
    await cp(filledDir, dataDir, { recursive: true });
    return dataDir;
  }

  it('exports lines that another catalog imports without a difference', async () => {
    const dataDir = await copyFilled();
    const otherDir = await createTemporaryDirectory();
    const images = join(otherDir, 'exported');
    const exported = await catalog(dataDir, 'export', '--images', images);
    expect(exported.stdout.trimEnd().split('\n')).toHaveLength(8);
    expect(await readdir(images)).toEqual(await readdir(join(dataDir, 'catalog-images')));

    const file = await writeLines(otherDir, [exported.stdout]);
    expect(await catalog(otherDir, 'import', file, '--images', images)).toMatchObject({
      exitCode: 0,
      stderr: unread(otherDir),
    });
    expect((await catalog(otherDir, 'export')).stdout).toBe(exported.stdout);
  });

  it('keeps the images when it imports its own export without --images', async () => {
    const dataDir = await copyFilled();
    const { stdout } = await catalog(dataDir, 'export');
    const images = await readdir(join(dataDir, 'catalog-images'));
    const again = await catalog(dataDir, 'import', await writeLines(dataDir, [stdout]));
    expect(again.stdout).toBe('Channels added: 0, replaced: 8. Lines refused: 0.\n');
    expect(await readdir(join(dataDir, 'catalog-images'))).toEqual(images);
  });

  it('reports refused lines on a piped stderr without a progress bar, and exits with 1', async () => {
    const dataDir = await createTemporaryDirectory();
    const file = await writeLines(dataDir, [
      catalogLine(1),
      catalogLine(2, { subscriberCount: 12.5 }),
      catalogLine(3, { customUrl: '@three' }),
      catalogLine(4, { customUrl: '@Three' }),
    ]);
    expect(await catalog(dataDir, 'import', file)).toEqual({
      exitCode: 1,
      stdout: 'Channels added: 3, replaced: 0. Lines refused: 1.\n',
      stderr:
        'line 2: subscriberCount: must be a decimal integer as a string, got 12.5\n' +
        `line 4: warning: customUrl: @Three leads to the channel ${numberedChannelId(3)}, and is not stored for ${numberedChannelId(4)}\n${unread(dataDir)}`,
    });
  });

  it('refuses a truncated image of every format, and imports whole ones', async () => {
    const dataDir = await createTemporaryDirectory();
    const images = await createTemporaryDirectory();
    const formats = ['jpeg', 'png', 'webp', 'avif', 'gif'] as const;
    for (const format of formats) {
      const whole = await sharp(join(SAMPLE_IMAGES, 'pennant-avatar.png')).resize(300).toFormat(format).toBuffer();
      await writeFile(join(images, `whole.${format}`), whole);
      await writeFile(join(images, `cut.${format}`), whole.subarray(0, whole.length / 2));
    }
    const files = formats.flatMap((format) => [`cut.${format}`, `whole.${format}`]);
    const lines = files.map((avatarFile, at) => catalogLine(at, { avatarFile }));
    const file = await writeLines(dataDir, lines);
    const { exitCode, stdout, stderr } = await catalog(dataDir, 'import', file, '--images', images);
    const refusals = formats.map(
      (format, at) => `line ${2 * at + 1}: avatarFile: cut.${format} is damaged or incomplete\n`,
    );
    expect(stderr).toBe(refusals.join('') + unread(dataDir));
    expect([exitCode, stdout]).toEqual([1, 'Channels added: 5, replaced: 0. Lines refused: 5.\n']);
  });

  it('reports every refused line to a reader that is slower than the command', async () => {
    const directory = await createTemporaryDirectory();
    // More than a pipe or socket takes without a reader.
    const lines = 20_000;
    const file = await writeLines(directory, new Array(lines).fill('{}'));
    const command = launchCommand(['catalog', 'import', file], { directory });
    command.child.stderr?.pause();
    await command.printed(/Lines refused: 20000/);
    command.child.stderr?.resume();
    expect(await command.closed).toBe(1);
    expect(command.stderr().match(/^line \d+: /gm)).toHaveLength(lines);
  });

  it('lists, shows and removes channels', async () => {
    const dataDir = await copyFilled();
    const { stdout } = await catalog(dataDir, 'list');
    expect(stdout).toContain('UCPennantSample00000005A  @höhenkamm                Höhenkamm\n');
    const shown = await catalog(dataDir, 'show', '@HÖHENKAMM');
    expect(JSON.parse(shown.stdout)).toMatchObject({ channelId: 'UCPennantSample00000005A', country: 'AT' });
    expect(await catalog(dataDir, 'remove', 'UCPennantSample00000005A')).toEqual({
      exitCode: 0,
      stdout: 'Removed UCPennantSample00000005A (Höhenkamm).\n',
      stderr: unread(dataDir),
    });
    expect(await readdir(join(dataDir, 'catalog-images'))).toHaveLength(13);
    // A command that only reads creates the catalog and nothing else.
    expect((await readdir(dataDir)).filter((name) => !name.startsWith('catalog'))).toEqual([]);
    for (const command of ['show', 'remove']) {
      expect(await catalog(dataDir, command, 'UCPennantSample00000005A')).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: 'The catalog has no channel UCPennantSample00000005A.\n',
      });
    }
  });

  it('uses another directory with --data-dir', async () => {
    const dataDir = await createTemporaryDirectory();
    const otherDir = await createTemporaryDirectory();
    const file = await writeLines(dataDir, [catalogLine(1)]);
    await catalog(dataDir, 'import', file, '--data-dir', otherDir);
    expect((await catalog(otherDir, 'list')).stdout.split('\n')).toHaveLength(3);
    expect(await catalog(dataDir, 'list')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('catalog.db'),
    });
  });

  it('exits with 2 and prints the usage when the arguments are invalid', async () => {
    const dataDir = await createTemporaryDirectory();
    const unusable = [
      [],
      ['destroy'],
      ['import'],
      ['import', 'missing.ndjson'],
      ['import', SAMPLES, '--images', 'missing'],
      ['import', SAMPLES, '--force'],
      ['list', 'extra'],
      ['list', '--images', '.'],
      ['show', 'not a channel'],
    ];
    for (const args of unusable) {
      const ended = await runInProcess(catalogCommands, args, { env: { DATA_DIR: dataDir } });
      expect(ended, args.join(' ')).toMatchObject({ exitCode: 2, stdout: '' });
      expect(ended.stderr, args.join(' ')).toMatch(/catalog (?:import|list|show)/);
    }
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('can be killed during an import and run again, and the catalog can be read meanwhile', async () => {
    const dataDir = await createTemporaryDirectory();
    const count = 25_000;
    const lines = Array.from({ length: count }, (_, number) =>
      catalogLine(number, { description: 'word '.repeat(50) }),
    );
    const file = await writeLines(dataDir, lines);
    const options = { directory: dataDir, env: { DATA_DIR: dataDir } };
    const { child: importing, ended } = launchCommand(['catalog', 'import', file], options);
    while (!(await catalog(dataDir, 'list')).stdout.includes(numberedChannelId(0)))
      expect(importing.exitCode).toBeNull();
    importing.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');

    const kept = (await catalog(dataDir, 'list')).stdout.trimEnd().split('\n').length - 1;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(count);
    expect(await catalog(dataDir, 'import', file)).toEqual({
      exitCode: 0,
      stdout: `Channels added: ${count - kept}, replaced: ${kept}. Lines refused: 0.\n`,
      stderr: unread(dataDir),
    });
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    '%s stops an import after the current record: exit code %d, and the database is intact',
    async (signal, code) => {
      const dataDir = await createTemporaryDirectory();
      const file = await createFifo();
      const importing = launchCommand(['catalog', 'import', file], { directory: dataDir, env: { DATA_DIR: dataDir } });
      const writer = createWriteStream(file);
      writer.on('error', () => undefined);
      await once(writer, 'open');
      // More than a pipe's buffer holds: when all of it is written, the import has read the beginning and waits for more.
      const lines = Array.from({ length: 2_000 }, (_, at) => catalogLine(at, { description: 'word '.repeat(50) }));
      await promisify(writer.write.bind(writer) as (chunk: string, done: () => void) => void)(`${lines.join('\n')}\n`);
      importing.child.kill(signal);
      expect([await importing.closed, importing.stdout()]).toEqual([code, '']);
      writer.destroy();
      const [, added, next] =
        new RegExp(
          `^Stopped by ${signal}\\. Channels added: (\\d+), replaced: 0\\. Lines refused: 0\\. The lines from (\\d+) on were not imported\\.\\n$`,
        ).exec(importing.stderr()) ?? [];
      expect(Number(added)).toBeGreaterThan(1_000);
      expect(Number(next)).toBe(Number(added) + 1);
      const db = new DatabaseSync(join(dataDir, 'catalog.db'));
      expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      expect(db.prepare('SELECT count(*) AS channels FROM channels').get()).toEqual({ channels: Number(added) });
      db.close();
    },
  );

  it('prints its help', async () => {
    const all = [['--help'], ...['add', 'import', 'export', 'list', 'show', 'remove'].map((name) => [name, '--help'])];
    for (const args of all) {
      const ended = await runInProcess(catalogCommands, args);
      expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
      expect(ended.stdout).toContain(`catalog ${args.length === 1 ? 'import' : args[0]}`);
    }
  });

  it('leaves a damaged catalog unchanged and names the file', async () => {
    const dataDir = await createTemporaryDirectory();
    const database = join(dataDir, 'catalog.db');
    await cp(SAMPLES, database);
    for (const args of [['import', SAMPLES, '--images', SAMPLE_IMAGES], ['list'], ['export']]) {
      const ended = await catalog(dataDir, ...args);
      expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
      expect(ended.stderr).toContain(`${database} is damaged`);
    }
    expect(await readFile(database)).toEqual(await readFile(SAMPLES));
  });
});
