import { type ChannelRef, channelRefsOfName } from '../domain/identifier.ts';
import { printable } from '../domain/printable.ts';
import { EXIT, type Options, type Output, parseCommandLine, StoppedError, UsageError } from './command-line.ts';

/** The arguments after the name of the subcommand. */
export interface Given {
  /** Empty if the subcommand takes none. */
  readonly argument: string;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
}

/** A subcommand of a command such as `catalog`. */
export interface SubCommand<Context> {
  /** With the name of the command, without that of the program. */
  readonly usage: string;
  /** One line. */
  readonly summary: string;
  readonly help: string;
  readonly argumentName?: string;
  /** Besides the options that all subcommands of the group take. */
  readonly options?: Options;
  /** Returns false if something could not be done; stderr says what. */
  run(given: Given, context: Context): Promise<boolean>;
}

export interface CommandGroup<Context extends Output> {
  /** One line. */
  readonly about: string;
  readonly commands: Readonly<Record<string, SubCommand<Context>>>;
  /** The message for a failure that is no bug; `undefined` for a bug. */
  describeFailure(error: unknown, context: Context): string | undefined;
}

interface GroupContext extends Output {
  readonly dataDir: string;
}

const SHARED_OPTIONS = { 'data-dir': { type: 'string' } } as const;

/**
 * Runs one command of the group and returns the exit code. `--data-dir` replaces `context.dataDir`.
 */
export async function runCommandGroup<Context extends GroupContext>(
  group: CommandGroup<Context>,
  [name = '', ...rest]: readonly string[],
  context: Context,
): Promise<number> {
  const command = Object.hasOwn(group.commands, name) ? group.commands[name] : undefined;
  if (command !== undefined) return runSubCommand(group, command, rest, context);
  if (name === '--help' || name === '-h') {
    context.stdout.write(overview(group));
    return EXIT.done;
  }
  const mistake = name === '' ? 'A command is missing.' : `There is no command "${printable(name)}".`;
  context.stderr.write(`${mistake}\n\n${overview(group)}`);
  return EXIT.usage;
}

async function runSubCommand<Context extends GroupContext>(
  group: CommandGroup<Context>,
  command: SubCommand<Context>,
  args: readonly string[],
  context: Context,
): Promise<number> {
  const { stdout, stderr } = context;
  let ownContext = context;
  try {
    const given = read(command, args);
    if (given.options.help === true) {
      stdout.write(`Usage: pennant ${command.usage}\n\n${command.help}\n`);
      return EXIT.done;
    }
    const dataDir = given.options['data-dir'];
    if (typeof dataDir === 'string') ownContext = { ...context, dataDir };
    return (await command.run(given, ownContext)) ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`${error.message}\nUsage: pennant ${command.usage}\n`);
      return EXIT.usage;
    }
    if (error instanceof StoppedError) {
      stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    const failure = group.describeFailure(error, ownContext);
    if (failure === undefined) throw error;
    stderr.write(`${failure}\n`);
    return EXIT.failed;
  }
}

/** @throws UsageError */
function read<Context>({ argumentName, options = {} }: SubCommand<Context>, args: readonly string[]): Given {
  const { values, positionals } = parseCommandLine(args, { ...options, ...SHARED_OPTIONS });
  const expected = argumentName === undefined ? 0 : 1;
  if (values.help !== true && positionals.length < expected) throw new UsageError(`${argumentName} is missing.`);
  if (positionals.length > expected) throw new UsageError(`Unexpected argument "${positionals[expected]}".`);
  return { argument: positionals[0] ?? '', options: values as Given['options'] };
}

function overview<Context extends Output>({ about, commands }: CommandGroup<Context>): string {
  const lines = Object.values(commands).map(({ usage, summary }) => `  pennant ${usage}\n      ${summary}`);
  return `${about}\n\n${lines.join('\n')}\n\nEach command takes --help and --data-dir DIR.\n`;
}

/**
 * The channels that an argument may name, in the order to try them.
 *
 * @throws UsageError if it names none
 */
export function requireRefs(argument: string): ChannelRef[] {
  const refs = channelRefsOfName(argument);
  if (refs.length === 0) throw new UsageError(`"${argument}" is not a channel ID, handle or user name.`);
  return refs;
}
