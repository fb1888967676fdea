import { parseArgs } from 'node:util';

export interface CommandContext {
  /** Where `catalog.db` is. */
  readonly dataDir: string;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

export interface CommandLine {
  readonly isHelpWanted: boolean;
  readonly dataDir: string | undefined;
  /** The folder given with `--images`. */
  readonly images: string | undefined;
  /** The command's argument; empty where it takes none. */
  readonly argument: string;
}

/** One sub-command of `catalog`. */
export interface Command {
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  readonly help: string;
  readonly argumentName?: string;
  readonly takesImages: boolean;
  /** False when some of it could not be done; what, is on stderr. */
  run(commandLine: CommandLine, context: CommandContext): Promise<boolean>;
}

/** The command line cannot be meant; the message says what is wrong with it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseCommandLine({ argumentName, takesImages }: Command, args: string[]): CommandLine {
  const { values, positionals } = parseOptions(args, takesImages);
  const isHelpWanted = values.help === true;
  const expected = argumentName === undefined ? 0 : 1;
  if (!isHelpWanted && positionals.length < expected) throw new UsageError(`${argumentName} is missing.`);
  if (positionals.length > expected) throw new UsageError(`Unexpected argument "${positionals[expected]}".`);
  return {
    isHelpWanted,
    dataDir: stringOf(values['data-dir']),
    images: stringOf(values.images),
    argument: positionals[0] ?? '',
  };
}

function parseOptions(args: string[], takesImages: boolean) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        'data-dir': { type: 'string' },
        ...(takesImages ? { images: { type: 'string' } } : {}),
      },
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

function stringOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
