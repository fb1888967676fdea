import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, type CommandContext, runCommand } from '../../src/cli/command.ts';
import type { EndedCommand } from './process.ts';

/** Runs a command in this process, as main.ts does. Unless the settings name a console, no service is running. */
export async function runInProcess(
  command: Command,
  args: readonly string[],
  { env, ...context }: Partial<Omit<CommandContext, 'envFile' | 'flags'>> = {},
): Promise<EndedCommand> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const written = Promise.all([text(stdout), text(stderr)]);
  const exitCode = await runCommand(command, [...args, '--env-file', '/dev/null'], {
    version: '0.0.0-test',
    env: { CONSOLE_PORT: '0', ...env },
    stdout,
    stderr,
    ...context,
  });
  stdout.end();
  stderr.end();
  const [output, errors] = await written;
  return { exitCode, stdout: output, stderr: errors };
}
