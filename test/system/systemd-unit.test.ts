import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { blockWith } from '../helpers/documents.ts';
import { findSystemd } from '../helpers/installed.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url);
/** Out of 100. systemd rates anything below 20 as "ok". */
const MAX_EXPOSURE = 15;

const readUnit = (name: string) => readFile(new URL(`deploy/${name}`, ROOT), 'utf8');

let directory: string;
let unit: string;
let doctor: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  unit = await readUnit('pennant.service');
  doctor = await readUnit('pennant-doctor.service');
});

/** The unit with a path of the program that a test can write. */
async function install(text: string, name = 'pennant.service'): Promise<string> {
  const program = join(directory, 'node_modules/.bin/pennant');
  await mkdir(join(directory, 'node_modules/.bin'), { recursive: true });
  await writeFile(program, '#!/bin/sh\n');
  await chmod(program, 0o755);
  const path = join(directory, name);
  await writeFile(path, text.replaceAll('/opt/pennant', directory));
  return path;
}

/** Runs systemd-analyze on the file alone, which needs no running systemd. */
async function analyze(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const ended = await run('systemd-analyze', args, { env: { PATH: process.env.PATH } }).then(
    ({ stdout, stderr }) => ({ exitCode: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ exitCode: Number(code), output: `${stdout}${stderr}` }),
  );
  return ended;
}

function valuesOf(name: string, text = unit): string[] {
  return [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

describe.skipIf(!findSystemd())('systemd-analyze', () => {
  test('accepts the unit, also with the lines that its comments suggest', async () => {
    expect(await analyze('verify', '--man=no', await install(unit))).toEqual({ exitCode: 0, output: '' });
    const suggested = unit.replace(/^#(?=LoadCredential=|Environment=)/gm, '');
    expect(suggested).not.toBe(unit);
    expect(await analyze('verify', '--man=no', await install(suggested))).toEqual({ exitCode: 0, output: '' });
  });

  test('accepts several instances of the unit, each with its own ports and directory', async () => {
    const template = join(directory, 'pennant@.service');
    await rename(await install(unit), template);
    await mkdir(`${template}.d`);
    const [, settings = ''] = /<<'END'\n(.*?)\nEND\n/s.exec(blockWith('docs/operating.md', 'PORT=808%i')) ?? [];
    await writeFile(`${template}.d/instances.conf`, settings);
    for (const number of [1, 2]) {
      const instance = join(directory, `pennant@${number}.service`);
      expect(await analyze('verify', '--man=no', instance)).toEqual({ exitCode: 0, output: '' });
    }
    await writeFile(`${template}.d/instances.conf`, settings.replace('Environment=', 'Enviroment='));
    expect((await analyze('verify', '--man=no', join(directory, 'pennant@1.service'))).output).toContain('Enviroment');
    for (const name of ['PORT', 'CONSOLE_PORT', 'DATA_DIR']) expect(settings).toMatch(new RegExp(`[ =]${name}=\\S*%i`));
  });

  test('accepts the doctor’s unit, also with the lines that its comments suggest, and its timer', async () => {
    const suggested = doctor.replace(/^#(?=LoadCredential=|Environment=)/gm, '');
    expect(suggested).not.toBe(doctor);
    for (const text of [suggested, doctor]) {
      const path = await install(text, 'pennant-doctor.service');
      expect(await analyze('verify', '--man=no', path)).toEqual({ exitCode: 0, output: '' });
    }
    const timer = join(directory, 'pennant-doctor.timer');
    await writeFile(timer, await readUnit('pennant-doctor.timer'));
    expect(await analyze('verify', '--man=no', timer)).toEqual({ exitCode: 0, output: '' });
  });

  test.each([
    ['pennant.service', () => unit],
    ['pennant-doctor.service', () => doctor],
  ])('rates the exposure of the machine by %s as low', async (name, text) => {
    const options = ['--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager'];
    const found = await analyze('security', ...options, await install(text(), name));
    expect(found).toMatchObject({ exitCode: 0, output: expect.stringContaining('Overall exposure level') });
  });
});

test('the unit runs existing commands as an ordinary user, and allows enough time to stop', async () => {
  const { bin } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8')) as { bin: Record<string, string> };
  expect(valuesOf('ExecStart')).toEqual([`/opt/pennant/node_modules/.bin/${Object.keys(bin)[0]} serve`]);
  expect(valuesOf('User')).not.toContain('root');
  // The service ends within 10 s of SIGTERM.
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(10);

  // Variables set there would override .env, which other commands read too.
  expect(valuesOf('EnvironmentFile')).toEqual([]);
  expect(valuesOf('Environment').map((line) => line.split('=')[0])).toEqual(['PATH', 'NODE_ENV', 'NODE_OPTIONS']);
  expect(valuesOf('WorkingDirectory')).toEqual(valuesOf('ConfigurationDirectory').map((name) => `/etc/${name}`));
  expect(unit).toContain(`DATA_DIR=/var/lib/${valuesOf('StateDirectory')[0]} `);
});

test('the doctor’s unit has the program, the user and the settings of the service', async () => {
  for (const name of ['User', 'Environment', 'WorkingDirectory', 'ConfigurationDirectory', 'SystemCallFilter']) {
    const isShared = (value: string) => !value.startsWith('NODE_OPTIONS');
    expect([name, valuesOf(name, doctor)]).toEqual([name, valuesOf(name).filter(isShared)]);
  }
  const [program] = valuesOf('ExecStart')[0]?.split(' ') ?? [];
  expect(valuesOf('ExecStart', doctor)).toEqual([`${program} doctor @handle`]);
  // The doctor ends within two minutes.
  expect(Number(valuesOf('TimeoutStartSec', doctor)[0])).toBeGreaterThan(120);
});
