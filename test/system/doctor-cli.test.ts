import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pngOf } from '../helpers/catalog.ts';
import { ROOT } from '../helpers/documents.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { PROGRAM } from '../helpers/process.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

const IMAGE = respondWithStatus(200, { 'content-type': 'image/png' }, pngOf('of a channel'));
const startUpstream = () => startReplayForTest({ image: IMAGE, hasAboutPages: true });

/** Runs the command line as `npm run doctor -- …` does. */
async function doctor({ origin }: ReplayServer, ...args: string[]) {
  const cwd = await createTemporaryDirectory();
  const env = { PATH: process.env.PATH, YOUTUBE_ORIGIN: origin };
  return new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, 'doctor', ...args], { cwd, env }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stdout, stderr }),
    );
  });
}

it('the doctor calls the upstream from the settings, and exits with its result', async () => {
  const replay = await startUpstream();
  const fine = await doctor(replay, '@BellRockLight');
  expect(fine).toMatchObject({ exitCode: 0, stderr: '' });
  expect(fine.stdout.trimEnd().split('\n').at(-1)).toBe('All fields are where they are expected.');
  expect((await doctor(replay, '@nobody')).exitCode).toBe(1);
  expect((await doctor(replay)).exitCode).toBe(2);
});

it('by the timer, the doctor prints one line, and its exit code tells systemd whether the run has failed', async () => {
  const unit = readFileSync(join(ROOT, 'deploy/pennant-doctor.service'), 'utf8');
  const [, command = ''] = /^ExecStart=\S+ doctor @handle (.*)$/m.exec(unit) ?? [];
  const replay = await startUpstream();
  expect(await doctor(replay, '@BellRockLight', ...command.split(' '))).toEqual({
    exitCode: 0,
    stdout: '@BellRockLight: All fields are where they are expected.\n',
    stderr: '',
  });
  // A channel without these fields.
  const failed = await doctor(replay, 'UCreplayQuiet00000000007', ...command.split(' '));
  expect(failed).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^UC\w+: Not as expected: country .*\n$/),
  });
});
