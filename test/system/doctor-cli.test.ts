import { execFile } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { pngOf } from '../helpers/catalog.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { PROGRAM } from '../helpers/process.ts';
import { type ReplayServer, startReplayServer } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

async function startUpstream(): Promise<ReplayServer> {
  const image = respondWithStatus(200, { 'content-type': 'image/png' }, pngOf('of a channel'));
  const replay = await startReplayServer({ image, hasAboutPages: true });
  onTestFinished(() => replay.close());
  return replay;
}

/** Runs the command line as `npm run doctor -- …` does. */
async function doctor({ origin }: ReplayServer, ...args: string[]) {
  const cwd = await createTemporaryDirectory();
  const env = { PATH: process.env.PATH, YOUTUBE_ORIGIN: origin, YOUTUBE_IMAGE_ORIGIN: origin };
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
