import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { EndedCommand } from './command.ts';
import { runInProcess } from './run-command.ts';

/** What `doctor --json` writes. */
export interface DoctorReport {
  readonly isFine: boolean;
  readonly channelId: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
  readonly calls: readonly { name: string; status: number | null; bytes: number | null; form: string | null }[];
  readonly fields: readonly { field: string; state: string; value: unknown; path: string; note: string | null }[];
  readonly remarks: readonly string[];
}

export interface DoctorOptions {
  /** Of every upstream. */
  readonly origin: string;
  readonly isTerminal?: boolean;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the command as the command line does. */
export async function runDoctor(
  args: readonly string[],
  { origin, isTerminal = false, env = {} }: DoctorOptions,
): Promise<EndedCommand> {
  const stdout = Object.assign(new PassThrough(), { isTTY: isTerminal, hasColors: () => isTerminal });
  const written = text(stdout);
  const ended = await runInProcess(doctorCommand, args, {
    env: { YOUTUBE_ORIGIN: origin, YOUTUBE_API_ORIGIN: origin, YOUTUBE_IMAGE_ORIGIN: origin, ...env },
    stdout,
  });
  stdout.end();
  return { ...ended, stdout: await written };
}
