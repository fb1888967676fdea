import { CatalogUnusableError, catalogPaths, explainFailure } from '../sources/catalog/schema.ts';
import { type Command, type CommandContext, parseCommandLine, UsageError } from './catalog/command.ts';
import { exportCommand } from './catalog/export.ts';
import { importCommand } from './catalog/import.ts';
import { listCommand, removeCommand, showCommand } from './catalog/records.ts';

const COMMANDS: Record<string, Command> = {
  import: importCommand,
  export: exportCommand,
  list: listCommand,
  show: showCommand,
  remove: removeCommand,
};

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/**
 * Runs `catalog import|export|list|show|remove` and answers the exit code: 0 done, 1 not all of it (a refused line, no
 * such channel, an unusable catalog), 2 unusable arguments. `dataDir` gives way to `--data-dir`.
 */
export async function runCatalogCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const [name = '', ...rest] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const isHelp = name === '--help' || name === '-h' || name === 'help';
    (isHelp ? context.stdout : context.stderr).write(overview());
    return isHelp ? EXIT_OK : EXIT_USAGE;
  }
  return runCommand(command, rest, context);
}

async function runCommand(command: Command, args: string[], context: CommandContext): Promise<number> {
  const { stdout, stderr } = context;
  let { dataDir } = context;
  try {
    const commandLine = parseCommandLine(command, args);
    if (commandLine.isHelpWanted) {
      stdout.write(`Usage: ${command.usage}\n\n${command.help}\n`);
      return EXIT_OK;
    }
    dataDir = commandLine.dataDir ?? dataDir;
    return (await command.run(commandLine, { ...context, dataDir })) ? EXIT_OK : EXIT_FAILED;
  } catch (thrown) {
    const error = explainFailure(catalogPaths(dataDir).database, thrown);
    if (error instanceof UsageError) {
      stderr.write(`${error.message}\nUsage: ${command.usage}\n`);
      return EXIT_USAGE;
    }
    if (error instanceof CatalogUnusableError || isSystemError(error)) {
      stderr.write(`${error.message}\n`);
      return EXIT_FAILED;
    }
    throw error;
  }
}

/** A full disk, missing rights: for the operator, and no bug. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

function overview(): string {
  const lines = Object.values(COMMANDS).map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `The operator's own channels, in catalog.db.\n\n${lines.join('\n')}\n\nEach takes --help and --data-dir DIR.\n`;
}
