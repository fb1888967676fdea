import { type ParseArgsConfig, parseArgs } from 'node:util';
import { printable } from '../domain/printable.ts';

/** What a shell is told: done; not all of it, the reason is on stderr; or the command line cannot be meant. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** The command line cannot be meant; the message says what is wrong with it. */
export class UsageError extends Error {
  constructor(message: string) {
    super(printable(message));
  }
}

export interface Output {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export type Options = NonNullable<ParseArgsConfig['options']>;

const HELP_OPTION = { help: { type: 'boolean', short: 'h' } } as const;

/**
 * `parseArgs` with `--help` among the options.
 *
 * @throws UsageError
 */
export function parseCommandLine<const Known extends Options>(args: readonly string[], options: Known) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...options, ...HELP_OPTION } });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(firstSentence(error.message));
    throw error;
  }
}

/** What follows it is advice on arguments that begin with a dash: no channel and no file here needs to. */
function firstSentence(message: string): string {
  return `${message.split('. ', 1)[0]?.replace(/\.$/, '')}.`;
}
