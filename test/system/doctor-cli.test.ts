import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/documents.ts';
import { PROGRAM } from '../helpers/process.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

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

it('the doctor calls the upstream in the settings, as the timer does, and its exit code is the result', async () => {
  const unit = readFileSync(join(ROOT, 'deploy/pennant-doctor.service'), 'utf8');
  const [, options = ''] = /^ExecStart=\S+ doctor @handle(.*)$/m.exec(unit) ?? [];
  const given = options.split(' ').filter(Boolean);
  const replay = await startReplayForTest();
  const fine = await doctor(replay, '@BellRockLight', ...given);
  expect(fine).toMatchObject({ exitCode: 0, stderr: '' });
  expect(fine.stdout).toContain('@BellRockLight: Every field is found.\n');
  // It has no banner, no country and no links.
  const failed = await doctor(replay, 'UCreplayQuiet00000000007', ...given);
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toMatch(/: Not found: .*country \(absent\).*links \(absent\).*banner \(absent\)/);
  expect((await doctor(replay)).exitCode).toBe(2);
});
