import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/documents.ts';
import { runCommand } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

it('the doctor calls the upstream in the settings, as the timer does, and its exit code is the result', async () => {
  const unit = readFileSync(join(ROOT, 'deploy/pennant-doctor.service'), 'utf8');
  const [, options = ''] = /^ExecStart=\S+ doctor @handle(.*)$/m.exec(unit) ?? [];
  const { origin } = await startReplayForTest();
  const directory = await createTemporaryDirectory();
  const doctor = (...args: string[]) =>
    runCommand(['doctor', ...args, ...options.split(' ').filter(Boolean)], {
      directory,
      env: { YOUTUBE_ORIGIN: origin },
    });
  const fine = await doctor('@BellRockLight');
  expect(fine).toMatchObject({ exitCode: 0, stderr: '' });
  expect(fine.stdout).toContain('@BellRockLight: Every field is found.\n');
  // It has no banner, no country and no links.
  const failed = await doctor('UCreplayQuiet00000000007');
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toMatch(/: Not found: .*country \(absent\).*links \(absent\).*banner \(absent\)/);
});
