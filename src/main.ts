import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { type Command, EXIT, runCommand, written } from './cli/command.ts';
import { printable } from './lib/printable.ts';

const USAGE = `Usage: pennant [serve]     start the service (default)
       pennant add         copy channels into your own channels
       pennant purge       make the running service load a channel again
       pennant doctor      show a channel as YouTube has it now, field by field
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
  settings: async () => (await import('./cli/settings.ts')).settingsCommand,
  health: async () => (await import('./cli/health.ts')).healthCommand,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function run(first: string, name: string, args: readonly string[]): Promise<number> {
  const { env, stdout, stderr } = process;
  if (first === '--version' || first === '--help' || first === '-h') {
    stdout.write(first === '--version' ? `${version}\n` : USAGE);
    return EXIT.done;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    stderr.write(`There is no command "${printable(name)}".\n${USAGE}`);
    return EXIT.usage;
  }
  return runCommand(await load(), args, { version, env, stdout, stderr });
}

/** A closed output (`| head`) is no failure: later output is discarded. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(EXIT.failed);
}

/** Runs the command line. @param given without the program's name */
export async function main(given: readonly string[]): Promise<void> {
  const [first = 'serve', ...rest] = given;
  const [name, args] = first.startsWith('-') ? ['serve', given] : [first, rest];
  const isService = name === 'serve';
  handleSignals(isService);
  // V8 would let the heap of a machine with much memory grow to several times its live size before it collects garbage.
  if (isService) setFlagsFromString('--heap-growing-percent=50');
  // A process ends after the lookups of names that have begun. When three name servers are silent, glibc tries for 47 s.
  process.env.RES_OPTIONS ??= 'timeout:1 attempts:1';
  // Only the service's user and group may read DATA_DIR.
  process.umask(process.umask(0o077) | 0o027);
  process.stdout.on('error', onOutputError);
  // A failure of stderr cannot be reported anywhere.
  process.stderr.on('error', () => undefined);
  process.exitCode = await run(first, name, args);
  if (process.exitCode !== EXIT.failed) return;
  // Writing to a pipe is asynchronous, and `exit` discards what its reader has not taken yet.
  await Promise.all([process.stdout, process.stderr].map(written));
  // A service that could not start has listeners that would keep the process alive.
  process.exit();
}

/**
 * Adds handlers before anything is loaded: process 1 of a container ignores a signal without a handler, and loading the service
 * takes a while. The service replaces the handlers of SIGINT and SIGTERM once it starts (src/cli/serve/start.ts).
 */
function handleSignals(isService: boolean): void {
  // Without a handler, Node opens a debugger.
  process.on('SIGUSR1', () => undefined);
  // The service survives a closed terminal.
  if (isService) process.on('SIGHUP', () => undefined);
  if (!isService && process.pid !== 1) return;
  process.on('SIGINT', () => process.exit(isService ? 0 : 130));
  process.on('SIGTERM', () => process.exit(isService ? 0 : 143));
}
