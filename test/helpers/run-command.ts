import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, type CommandContext, type CommandGroup, runCommand } from '../../src/cli/command.ts';
import type { EndedCommand } from './command.ts';

/** Runs a command in this process, as main.ts does. */
export async function runInProcess(
  command: Command | CommandGroup,
  args: readonly string[],
  context: Partial<CommandContext> = {},
): Promise<EndedCommand> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  const exitCode = await runCommand(command, args, {
    version: '0.0.0-test',
    env: {},
    envFile: { path: '/.env', isThere: false, problem: undefined, names: [], loaded: [], ignoredLines: [] },
    stdin: () => Readable.from([]),
    stdout,
    stderr,
    stopSignal: () => new AbortController().signal,
    ...context,
  });
  stdout.end();
  stderr.end();
  const [output, errors] = await written;
  return { exitCode, stdout: output, stderr: errors };
}
