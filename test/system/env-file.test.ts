import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const BLOCKED = 'UCPennantSample00000003A';
const NOBODY = 65_534;

let directory: string;
let envFile: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  envFile = join(directory, '.env');
});

function settings(env: Record<string, string> = {}, uid?: number) {
  return runCommand(['settings'], { directory, env, ...(uid !== undefined && { uid }) });
}

function lineOf(name: string, output: string): string[] | undefined {
  const line = output.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line?.split(/ {2,}/);
}

describe('.env', () => {
  test.each([
    ['plain', `BLOCKED_CHANNELS=${BLOCKED}\nPORT=9\n`],
    ['with a byte order mark', `\u{feff}BLOCKED_CHANNELS=${BLOCKED}\nPORT=9\n`],
    ['with CRLF', `BLOCKED_CHANNELS=${BLOCKED}\r\nPORT=9\r\n`],
    ['with quotes, blanks, comments and export', `# x\n\nexport BLOCKED_CHANNELS = "${BLOCKED}" # one\n PORT='9'`],
  ])('is read when it is %s', async (_form, content) => {
    await writeFile(envFile, content);
    const { exitCode, stdout, stderr } = await settings();
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(lineOf('BLOCKED_CHANNELS', stdout)).toEqual(['BLOCKED_CHANNELS', '.env', BLOCKED]);
    expect(lineOf('PORT', stdout)).toEqual(['PORT', '.env', '9']);
    expect(stdout).toContain(`\n.env: ${envFile}, 2 variables\n`);
  });

  test.each(['', ' ', ' \t', ' # nobody', '\r'])(
    'gives an empty value no part of the next line: "%s"',
    async (rest) => {
      await writeFile(envFile, `CONTACT=${rest}\nREDIS_URL=redis://:the-password@cache\nBLOCKED_CHANNELS=${BLOCKED}\n`);
      const { exitCode, stdout, stderr } = await settings();
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).not.toContain('the-password');
      expect(lineOf('REDIS_URL', stdout)).toEqual(['REDIS_URL', '.env', 'set (not shown)']);
      expect(lineOf('BLOCKED_CHANNELS', stdout)).toEqual(['BLOCKED_CHANNELS', '.env', BLOCKED]);
    },
  );

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
    ['is a directory', 'it is a directory', () => mkdir(envFile)],
    ['is in UTF-16', 'it is not UTF-8 text', () => writeFile(envFile, Buffer.from('\u{feff}PORT=9', 'utf16le'))],
    ['has invalid UTF-8', 'it is not UTF-8 text', () => writeFile(envFile, 'PORT=9\0')],
    ['is unresolvable', 'it is a link to a file that does not exist', () => symlink('gone', envFile)],
  ];

  test.each(UNUSABLE)('that %s is refused, and the message names it', async (_what, reason, make) => {
    await make();
    const refusal = { exitCode: 1, stdout: '', stderr: `${envFile} cannot be used: ${reason}\n` };
    expect(await settings()).toEqual(refusal);
    expect(await runCommand(['serve', '--check'], { directory })).toEqual(refusal);
    expect(await runCommand(['serve'], { directory })).toEqual(refusal);
    expect(await runCommand(['serve', '--help'], { directory })).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test.skipIf(process.getuid?.() !== 0)('without read permission is refused, and the message names it', async () => {
    await chmod(directory, 0o755);
    await writeFile(envFile, `BLOCKED_CHANNELS=${BLOCKED}\n`, { mode: 0o600 });
    // Root may read every file.
    const ended = await settings({}, NOBODY);
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ended.stderr).toMatch(new RegExp(`^${envFile} cannot be used: EACCES: permission denied.*\\n$`));
  });

  test('with a mistake causes a warning, also from serve --check', async () => {
    await writeFile(envFile, `BLOCKED_CHANNELS: ${BLOCKED}\nBLOCKED_CHANELS=${BLOCKED}\nPORT=1\nPORT=2\n`);
    const expected = [
      `${envFile}: line 1 has no effect (one NAME=value a line, each name once)`,
      `${envFile}: line 3 has no effect (one NAME=value a line, each name once)`,
      `${envFile}: BLOCKED_CHANELS is not a setting; did you mean BLOCKED_CHANNELS?`,
      'environment: CONSOLE_PROT is not a setting; did you mean CONSOLE_PORT?',
    ];
    const env = { CONSOLE_PROT: '1' };
    expect((await settings(env)).stderr).toBe(expected.map((text) => `warning: ${text}\n`).join(''));
    const { stdout } = await runCommand(['serve', '--check'], { directory, env });
    expect(stdout).toContain(`ok       .env: ${envFile}, 2 variables\n`);
    for (const text of expected) expect(stdout).toContain(`warning  ${text}\n`);
  });
});

describe('a quote in .env', () => {
  const REST = `YOUTUBE_API_KEY=the-key\nREDIS_URL=redis://:the-password@cache\nBLOCKED_CHANNELS=${BLOCKED}\n`;

  test.each([
    ['CONTACT', `CONTACT="ops@example.org\n${REST}LOG_LEVEL="info"\n`],
    ['CONTACT', `CONTACT='t Hooft\n${REST}# don't remove\n`],
    ['CONTACT', `CONTACT=\`ops\r\n${REST}HOST=\`::\`\r\n`],
    ['SOMETHING', `export SOMETHING='a\n${REST}HOST='::'\n`],
    ['CONTACT', `CONTACT="ops@example.org\n${REST}`],
  ])('of %s that is not closed is refused, and no value is shown', async (name, content) => {
    await writeFile(envFile, content);
    const reason = `the value of ${name} has no closing quote`;
    const refusal = { exitCode: 1, stdout: '', stderr: `${envFile} cannot be used: ${reason}\n` };
    expect(await settings()).toEqual(refusal);
    expect(await runCommand(['serve', '--check'], { directory })).toEqual(refusal);
    expect(await runCommand(['serve'], { directory })).toEqual(refusal);
  });

  test('or an escape that makes a line break is refused', async () => {
    await writeFile(envFile, `CONTACT="ops\\nexample"\n${REST}`);
    expect(await settings()).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `${envFile} cannot be used: the value of CONTACT has a line break\n`,
    });
  });

  test.each([
    ['CONTACT=Room #5', 'Room'],
    ['CONTACT=a#b # c', 'a'],
    ['CONTACT="a"b', 'a'],
    [`export CONTACT='a' "b"`, 'a'],
  ])('or a "#" that cuts a value causes a warning: %s', async (line, value) => {
    await writeFile(envFile, `PORT=9 # the port\n${line}\nHOST="::" #local\n#LOG_LEVEL=a#b\nLOG_LEVEL= # none\n`);
    const { exitCode, stdout, stderr } = await settings();
    expect(lineOf('CONTACT', stdout)).toEqual(['CONTACT', '.env', value]);
    const warning = `${envFile}: line 2 loses the end of its value (put a value that has # or a quote in quotes)`;
    expect([exitCode, stderr]).toEqual([0, `warning: ${warning}\n`]);
    const checked = await runCommand(['serve', '--check'], { directory });
    expect(checked.stdout).toContain(`warning  ${warning}\n`);
  });

  test.each([`CONTACT="a#b"`, `CONTACT='"a" # b'`, `CONTACT="'t Hooft" # a comment`])(
    'may hold both: %s',
    async (line) => {
      await writeFile(envFile, `${line}\n`);
      expect((await settings()).stderr).toBe('');
    },
  );
});

describe('pennant settings', () => {
  test('shows every setting even when some are invalid, and exits with 1', async () => {
    const { exitCode, stdout, stderr } = await settings({ PORT: 'http', REDIS_URL: 'redis://:the-password@cache' });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('  PORT: must')]);
    expect(lineOf('PORT', stdout)).toEqual(['PORT', 'environment', 'http']);
    expect(lineOf('HOST', stdout)).toEqual(['HOST', 'default', '0.0.0.0']);
    expect(lineOf('REDIS_URL', stdout)).toEqual(['REDIS_URL', 'environment', 'set (not shown)']);
    expect(stdout).toContain(`\n.env: there is no ${envFile}\n`);
  });
});
