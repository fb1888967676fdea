import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { runCommand } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const BLOCKED = 'UCPennantSample00000003A';

let directory: string;
let envFile: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  envFile = join(directory, '.env');
});

function settings(env: Record<string, string> = {}) {
  return runCommand(['settings'], { directory, env });
}

function lineOf(name: string, output: string): string[] | undefined {
  const line = output.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line?.split(/ {2,}/);
}

describe('.env', () => {
  test.each([
    ['with a byte order mark and CRLF', `\u{feff}BLOCKED_CHANNELS=${BLOCKED}\r\nPORT=9\r\n`],
    ['with quotes, blanks, comments and export', `# x\n\nexport BLOCKED_CHANNELS = "${BLOCKED}" # one\n PORT='9'`],
  ])('is read when it is %s', async (_form, content) => {
    await writeFile(envFile, content);
    const { exitCode, stdout, stderr } = await settings();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(lineOf('BLOCKED_CHANNELS', stdout)).toEqual(['BLOCKED_CHANNELS', '.env', BLOCKED]);
    expect(lineOf('PORT', stdout)).toEqual(['PORT', '.env', '9']);
    expect(stdout).toContain(`\n.env: ${envFile}\n`);
  });

  test.each([' ', ' # nobody'])('gives an empty value no part of the next line: "%s"', async (rest) => {
    await writeFile(envFile, `CONTACT=${rest}\nREDIS_URL=redis://:the-password@cache\nBLOCKED_CHANNELS=${BLOCKED}\n`);
    const { exitCode, stdout, stderr } = await settings();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('the-password');
    expect(lineOf('REDIS_URL', stdout)).toEqual(['REDIS_URL', '.env', 'set (not shown)']);
    expect(lineOf('BLOCKED_CHANNELS', stdout)).toEqual(['BLOCKED_CHANNELS', '.env', BLOCKED]);
  });

  test('is another file with --env-file, which must exist', async () => {
    await writeFile(envFile, 'PORT=9\n');
    await writeFile(join(directory, 'other.env'), 'CONSOLE_PORT=10\n');
    const { exitCode, stdout } = await runCommand(['settings', '--env-file', 'other.env'], { directory, env: {} });
    expect([exitCode, lineOf('CONSOLE_PORT', stdout)]).toEqual([0, ['CONSOLE_PORT', '.env', '10']]);
    expect(lineOf('PORT', stdout)).toEqual(['PORT', 'default', expect.any(String)]);
    // Node itself reads this option, too, and ends with 9 if there is no such file.
    expect((await runCommand(['settings', '--env-file', 'none.env'], { directory, env: {} })).exitCode).not.toBe(0);
    expect((await runCommand(['settings', '--env-file'], { directory, env: {} })).exitCode).toBe(2);
  });

  test('is overridden by the environment, but not by an empty variable in it', async () => {
    await writeFile(envFile, `PORT=9\nBLOCKED_CHANNELS=${BLOCKED}\n`);
    const { stdout } = await settings({ PORT: '10', BLOCKED_CHANNELS: '' });
    expect(lineOf('PORT', stdout)).toEqual(['PORT', 'environment', '10']);
    expect(lineOf('BLOCKED_CHANNELS', stdout)).toEqual(['BLOCKED_CHANNELS', '.env', BLOCKED]);
  });

  const UNUSABLE: [string, string, () => Promise<unknown>][] = [
    ['is a directory', 'EISDIR', () => mkdir(envFile)],
    ['is in UTF-16', 'not valid', () => writeFile(envFile, Buffer.from('\u{feff}PORT=9', 'utf16le'))],
  ];

  test.each(UNUSABLE)('that %s is refused, and the message names it', async (_what, reason, make) => {
    await make();
    const refusal = { exitCode: 1, stdout: '', stderr: expect.stringContaining(reason) };
    const ended = await runCommand(['serve'], { directory, env: {} });
    expect(ended).toEqual(refusal);
    expect(ended.stderr).toContain(`${envFile} cannot be used: `);
  });

  test('with a misspelled name causes a warning, also from serve --check', async () => {
    await writeFile(envFile, `BLOCKED_CHANELS=${BLOCKED}\nPORT=2\n`);
    const expected = [
      'CONSOLE_PROT is not a setting; did you mean CONSOLE_PORT?',
      'BLOCKED_CHANELS is not a setting; did you mean BLOCKED_CHANNELS?',
    ];
    const env = { CONSOLE_PROT: '1' };
    expect((await settings(env)).stderr).toBe(expected.map((text) => `warning: ${text}\n`).join(''));
    const { stdout } = await runCommand(['serve', '--check'], { directory, env });
    expect(stdout).toContain(`ok       .env: ${envFile}\n`);
    for (const text of expected) expect(stdout).toContain(`warning  ${text}\n`);
  });
});

test('a quote that is not closed is refused, and the lines behind it are not shown', async () => {
  await writeFile(envFile, `CONTACT="ops@example.org\nYOUTUBE_API_KEY=the-key\nLOG_LEVEL="info"\n`);
  const stderr = 'The settings cannot be used:\n  CONTACT: must be a text in one line, got several lines\n';
  expect(await settings()).toEqual({ exitCode: 1, stdout: '', stderr });
});

describe('pennant settings', () => {
  test('shows every setting', async () => {
    const { exitCode, stdout, stderr } = await settings({ PORT: '9', REDIS_URL: 'redis://:the-password@cache' });
    expect([exitCode, stderr]).toEqual([0, '']);
    for (const { env } of Object.values(SETTINGS)) expect([env, lineOf(env, stdout)?.[0]]).toEqual([env, env]);
    expect(lineOf('PORT', stdout)).toEqual(['PORT', 'environment', '9']);
    expect(lineOf('HOST', stdout)).toEqual(['HOST', 'default', '0.0.0.0']);
    expect(lineOf('REDIS_URL', stdout)).toEqual(['REDIS_URL', 'environment', 'set (not shown)']);
    expect(stdout).toContain(`\n.env: there is no ${envFile}\n`);
  });
});
