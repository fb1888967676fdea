import { describe, expect, it } from 'vitest';
import { addCommand } from '../../src/cli/add.ts';
import type { Command } from '../../src/cli/command.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { serveCommand } from '../../src/cli/serve.ts';
import { settingsCommand } from '../../src/cli/settings.ts';
import { respondWithStatus, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { runInProcess } from '../helpers/run-command.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const HOSTILE = '\u001b[2J\u009b31m\r\u202e';
const LONG = 'x'.repeat(100_000);

const COMMANDS: Record<string, Command> = {
  add: addCommand,
  doctor: doctorCommand,
  serve: serveCommand,
  settings: settingsCommand,
};

async function outputOf(command: string, args: string[]): Promise<string> {
  const upstream = await startFakeUpstream(respondWithStatus(500));
  const { stdout, stderr } = await runInProcess(COMMANDS[command] as Command, args, {
    env: {
      DATA_DIR: await createTemporaryDirectory(),
      YOUTUBE_ORIGIN: upstream.origin,
    },
  });
  await upstream.close();
  return stdout + stderr;
}

function expectHarmless(output: string): void {
  expect(output).not.toBe('');
  expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThan(1_500);
}

describe('a command never repeats terminal control characters or long texts', () => {
  const hostile = `${HOSTILE}${LONG}`;
  const url = `https://www.youtube.com/@nobody?${hostile}`;

  it.each([
    ['add', [hostile]],
    ['add', [url]],
    ['add', [`--${hostile}`]],
    ['add', ['@nobody']],
    ['doctor', [hostile]],
    ['doctor', ['@nobody', '--source', hostile]],
    ['serve', [hostile]],
    ['settings', [hostile]],
    ['settings', []],
  ])('%s', async (command, args) => {
    expectHarmless(await outputOf(command, args));
  });
});
