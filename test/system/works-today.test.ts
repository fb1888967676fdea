import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startReplayForTest } from '../helpers/youtube-service.ts';

/* The weekly check of .github/workflows/works-today.yaml, against a replayed YouTube. */

const ROOT = join(import.meta.dirname, '../..');

interface Workflow {
  readonly jobs: { readonly doctor: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] } };
}

/** The step's command, which GitHub runs with `bash -e`. */
const { doctor } = (parse(readFileSync(join(ROOT, '.github/workflows/works-today.yaml'), 'utf8')) as Workflow).jobs;
const [command = ''] = doctor.steps.flatMap(({ run = '' }) => (run.includes('npm run -s doctor') ? [run] : []));

function check(origin: string, channels: string): Promise<{ exitCode: number | null; output: string }> {
  const env = { PATH: process.env.PATH, YOUTUBE_ORIGIN: origin, CHANNELS: channels };
  return new Promise((resolve) => {
    const child = execFile('bash', ['-e', '-c', command], { cwd: ROOT, env }, (_error, output, errors) =>
      resolve({ exitCode: child.exitCode, output: output + errors }),
    );
  });
}

test.skipIf(process.platform === 'win32')(
  'the weekly check fails loudly if any channel is not as expected',
  async () => {
    const replay = await startReplayForTest();
    expect(await check(replay.origin, '@BellRockLight @BellRockLight')).toMatchObject({
      exitCode: 0,
      output: expect.not.stringContaining('::error::'),
    });
    const failed = await check(replay.origin, '@nobody @BellRockLight');
    expect(failed).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('::error::@nobody is not as expected'),
    });
    expect(failed.output).not.toContain('::error::@BellRockLight');
    // It has no banner, which every channel of the workflow has.
    expect((await check(replay.origin, 'UCreplayQuiet00000000007')).exitCode).toBe(1);
  },
);
