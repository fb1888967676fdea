import { isIPv6 } from 'node:net';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type EnvFile, loadEnvFile } from '../config/env-file.ts';
import { OperatorError } from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';
import { identifiersOfName, readPasted } from '../domain/pasted.ts';
import { isSystemError } from '../lib/file-system.ts';
import { printable } from '../lib/printable.ts';

/** Exit codes: done; failed in part or whole, with the reason on stderr; invalid command line. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/** Options of every command. */
const COMMON_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  'env-file': { type: 'string' },
} as const satisfies ParseArgsConfig['options'];

/** The command line is invalid. The message says why. */
class UsageError extends OperatorError {}

/** A line may have a path or another program's message, and advice. */
export const MAX_ADVICE_CHARACTERS = 1_000;

/** Writes `1 record`, `2 records`. */
export function formatQuantity(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Aligns the cells of each column. The lines have no spaces at their ends. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

/** The origin at which this machine reaches a listener. The private one accepts its own address and names of this machine. */
export function originOf(host: string, port: number): string {
  const isHere = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host);
  const name = isIPv6(host) ? `[${host}]` : host;
  return `http://${isHere ? 'localhost' : name}:${port}`;
}

/** The parts of the process that a command uses. */
export interface CommandContext {
  /** The version of Pennant. */
  readonly version: string;
  /** The environment, with the variables of the file. */
  readonly env: NodeJS.ProcessEnv;
  readonly envFile: EnvFile;
  /** Those of `Command.flags` that are given. */
  readonly flags: ReadonlySet<string>;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

export interface Command {
  /** It begins with the name of the command, without that of the program. */
  readonly usage: string;
  readonly help: string;
  /** A command without it takes no argument. */
  readonly argumentName?: string;
  readonly takesSeveral?: true;
  /** Options without a value, besides `--help`. */
  readonly flags?: readonly string[];
  /** Returns false if something could not be done; stderr says what. */
  run(args: readonly string[], context: CommandContext): Promise<boolean>;
}

/** Adds the variables of `.env` to the environment, and runs the command. @returns the exit code */
export async function runCommand(
  command: Command,
  args: readonly string[],
  context: Omit<CommandContext, 'envFile' | 'flags'>,
): Promise<number> {
  const { stdout, stderr } = context;
  try {
    const { values, positionals } = parse(command, args);
    if (values.help === true) {
      stdout.write(`Usage: pennant ${command.usage}\n\n${command.help}\n`);
      return EXIT.done;
    }
    const envFile = loadEnvFile(context.env, values['env-file']);
    const flags = new Set(Object.keys(values));
    return (await command.run(positionals, { ...context, envFile, flags })) ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (!(error instanceof OperatorError || isSystemError(error))) throw error;
    for (const line of error.message.split('\n')) stderr.write(`${printable(line, MAX_ADVICE_CHARACTERS)}\n`);
    if (!(error instanceof UsageError)) return EXIT.failed;
    stderr.write(`Usage: pennant ${command.usage}\n`);
    return EXIT.usage;
  }
}

/** @throws UsageError */
function parse({ argumentName, takesSeveral, flags = [] }: Command, args: readonly string[]) {
  const { values, positionals } = parseOptions(args, flags);
  const expected = argumentName === undefined ? 0 : 1;
  if (values.help !== true && positionals.length < expected) throw new UsageError(`${argumentName} is missing.`);
  if (positionals.length > expected && takesSeveral === undefined)
    throw new UsageError(`Unexpected argument "${positionals[expected]}".`);
  return { values, positionals };
}

function parseOptions(args: readonly string[], flags: readonly string[]) {
  const booleans = Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' } as const]));
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...booleans, ...COMMON_OPTIONS } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The rest of the message is advice for arguments that begin with a dash, which no argument here needs.
    throw new UsageError(`${error.message.split('. ', 1)[0]?.replace(/\.$/, '')}.`);
  }
}

/**
 * The channels that an argument may name, in the order to try them.
 *
 * @throws UsageError if it names none
 */
export function requireIdentifiers(argument: string): readonly Identifier[] {
  const identifiers = identifiersOfName(argument);
  if (identifiers.length > 0) return identifiers;
  throw new UsageError(`"${argument}" is ${whatIs(argument)}.`);
}

/** What a text is that names no channel. */
function whatIs(text: string): string {
  const page = readPasted(text)?.names;
  if (page === 'other page') return 'a page without a channel';
  return page === undefined ? 'not a channel ID, handle or user name' : `a ${page}, not a channel`;
}

/** Resolves when all earlier output is written, or cannot be written. `process.exit` discards what waits for the reader of a pipe. */
export function written(output: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => output.write('', () => resolve()));
}
