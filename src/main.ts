import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { nameBuild } from './cli/build.ts';
import { type Command, type CommandContext, EXIT, onStopSignal, runCommand, written } from './cli/command.ts';
import { type EnvFile, loadEnvFile } from './config/env-file.ts';
import { suggestionFor } from './lib/near-name.ts';
import { printable } from './lib/printable.ts';

const USAGE = `Usage: pennant [serve]     start the service (default)
       pennant add         copy channels into your own channels
       pennant purge       make the running service load a channel again
       pennant doctor      compare a channel with upstream's current responses
       pennant library     write tvshow.nfo files for a media server
       pennant settings    show all settings and their origin
       pennant health      check whether the service responds

Each command takes --help and --env-file FILE (default: .env in the working directory).
pennant --version prints the version.
`;

/** Loaded when needed: a short command should not wait for all others. */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./cli/serve.ts')).serveCommand,
  add: async () => (await import('./cli/add.ts')).addCommand,
  purge: async () => (await import('./cli/purge.ts')).purgeCommand,
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommand,
  library: async () => (await import('./cli/library.ts')).libraryCommand,
  settings: async () => (await import('./cli/settings.ts')).settingsCommand,
  health: async () => (await import('./cli/health.ts')).healthCommand,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function run([first = 'serve', ...rest]: readonly string[], envFile: EnvFile): Promise<number> {
  const { env, stdout, stderr } = process;
  if (first === '--version') {
    stdout.write(`${nameBuild(version)}\n`);
    return EXIT.done;
  }
  if (first === '--help' || first === '-h') {
    stdout.write(USAGE);
    return EXIT.done;
  }
  const [name, args] = first.startsWith('-') ? ['serve', [first, ...rest]] : [first, rest];
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    stderr.write(
      `There is no command "${printable(name)}"${suggestionFor(name, Object.keys(COMMANDS)) || '.'}\n${USAGE}`,
    );
    return EXIT.usage;
  }
  const context: CommandContext = { version, env, envFile, stdout, stderr, stopSignal };
  return runCommand(await load(), args, context);
}

function stopSignal(): AbortSignal {
  const stop = new AbortController();
  onStopSignal((signal) => stop.abort(signal));
  return stop.signal;
}

/** A closed output (`| head`) is no failure: later output is discarded. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(EXIT.failed);
}

const ENV_FILE_OPTION = '--env-file';

/** Takes `--env-file FILE`, which every command has, from the arguments. */
function takeEnvFile(args: readonly string[]): { readonly rest: readonly string[]; readonly path?: string } {
  const at = args.findIndex((arg) => arg === ENV_FILE_OPTION || arg.startsWith(`${ENV_FILE_OPTION}=`));
  if (at === -1) return { rest: args };
  const isNext = args[at] === ENV_FILE_OPTION;
  const path = isNext ? (args[at + 1] ?? '') : (args[at] ?? '').slice(ENV_FILE_OPTION.length + 1);
  return { path, rest: args.toSpliced(at, isNext ? 2 : 1) };
}

/** Runs the command line. @param given without the program's name */
export async function main(given: readonly string[]): Promise<void> {
  const { rest: args, path: envPath } = takeEnvFile(given);
  if (envPath === '') {
    process.stderr.write(`${ENV_FILE_OPTION} needs a file.\n${USAGE}`);
    process.exitCode = EXIT.usage;
    return;
  }
  const isService = args.length === 0 || (args.length === 1 && args[0] === 'serve');
  handleSignals(isService);
  // V8 would let the heap of a machine with much memory grow to several times its live size before it collects garbage.
  if (isService) setFlagsFromString('--heap-growing-percent=50');
  // Only the service's user and group may read DATA_DIR.
  process.umask(process.umask(0o077) | 0o027);
  const envFile = loadEnvFile(process.env, envPath);
  process.stdout.on('error', onOutputError);
  // A failure of stderr cannot be reported anywhere.
  process.stderr.on('error', () => undefined);
  process.exitCode = await run(args, envFile);
  if (process.exitCode !== EXIT.failed) return;
  // Writing to a pipe is asynchronous, and `exit` discards what its reader has not taken yet.
  await Promise.all([process.stdout, process.stderr].map(written));
  // The listeners of a service that could not start would keep the process alive.
  process.exit();
}

/**
 * Adds handlers before anything is loaded: process 1 of a container ignores a signal without a handler, and loading the service
 * takes a while. Other commands have none unless they are process 1, because a handler waits for the event loop. A command may
 * replace the handlers of SIGINT and SIGTERM (src/cli/command.ts).
 */
function handleSignals(isService: boolean): void {
  // Without a handler, Node opens a debugger.
  process.on('SIGUSR1', () => undefined);
  // The service survives a closed terminal. Once started it also logs the signal (src/cli/serve/start.ts).
  if (isService) process.on('SIGHUP', () => undefined);
  if (!isService && process.pid !== 1) return;
  process.on('SIGINT', () => process.exit(isService ? 0 : 130));
  process.on('SIGTERM', () => process.exit(isService ? 0 : 143));
}
