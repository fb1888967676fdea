import { readdir, readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { type EndedCommand, launchCommand, runCommand, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const PACKAGE = new URL('../../package.json', import.meta.url);

let directory: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
});

function run(args: readonly string[], env: Record<string, string> = {}): Promise<EndedCommand> {
  return runCommand(args, { directory, env });
}

describe('the command line', () => {
  test('prints its version, which readiness and metrics name, too', async () => {
    const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string };
    expect(await run(['--version'])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
    const service = await startServiceForTest({ directory });
    expect(await (await fetch(`${service.inside}/readyz`)).json()).toMatchObject({ version });
    expect(await (await fetch(`${service.inside}/metrics`)).text()).toContain(
      `pennant_build_info{version="${version}",node="${process.versions.node}"} 1\n`,
    );
  });

  test.each([
    [['--help'], 'pennant [serve]'],
    [['serve', '-h'], 'SIGTERM'],
  ])('%j prints the help on stdout, even when the settings are invalid', async (args, text) => {
    const ended = await run(args, { PORT: 'http' });
    expect(ended).toEqual({ exitCode: 0, stdout: expect.stringContaining(text), stderr: '' });
    expect(await readdir(directory)).toEqual([]);
  });

  test.each([
    [['purg'], 'There is no command "purg".', '--help'],
    [['--port=80'], "Unknown option '--port'.", 'Usage: pennant serve'],
    [['serve', '8080'], 'Unexpected argument "8080".', 'Usage: pennant serve'],
    [['doctor'], '@handle|ID|username is missing.', 'Usage: pennant doctor'],
  ])('%j exits with 2, reports the mistake and the usage, and changes nothing', async (args, mistake, advice) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ended.stderr.split('\n')[0]).toBe(mistake);
    expect(ended.stderr).toContain(advice);
    expect(await readdir(directory)).toEqual([]);
  });

  test('exits silently when the reader of its output closes the pipe', async () => {
    const { child, closed, stderr } = launchCommand(['settings'], { directory });
    child.stdout?.destroy();
    expect([await closed, stderr()]).toEqual([0, '']);
  });
});
