import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { CommandFailure, EXIT, formatCount, onStopSignal, systemFailure } from './cli/command-line.ts';
import { cacheSettings, checkSettings, doctorSettings, settingsWarnings } from './cli/command-settings.ts';
import type { Environment } from './config/environment.ts';
import {
  type EnvFile,
  findNameWarnings,
  findTracingWarnings,
  type ShownSetting,
  shownSettings,
} from './config/report.ts';
import { type Config, ConfigError, parseConfig } from './config/settings.ts';
import { printable } from './domain/printable.ts';

const USAGE = `Usage: pennant [serve]     start the service (default)
       pennant catalog     manage your own channels
       pennant cache       statistics and clearing of the cache
       pennant doctor      compare a channel with upstream's current responses
       pennant settings    show all settings and their origin

Each command takes --help. pennant --version prints the version.
`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Enough for a path and a piece of advice. */
const MAX_PROBLEM_CHARACTERS = 1_000;

const OUTPUT = { stdout: process.stdout, stderr: process.stderr };

/** The settings for a command. */
interface Given {
  readonly env: Environment;
  readonly envFile: EnvFile;
  /** @throws ConfigError */
  config(): Config;
}

/** Each returns the exit code, or `undefined` while the service runs. */
const COMMANDS: Record<string, (args: readonly string[], given: Given) => Promise<number | undefined>> = {
  async serve(args, given) {
    const [{ runServeCommand }, { isSdkLoaded }] = await Promise.all([
      import('./cli/serve.ts'),
      import('./lib/tracing.ts'),
    ]);
    const config = given.config();
    const { env, envFile } = given;
    const warnings = [
      ...settingsWarnings(config),
      ...findNameWarnings(env, envFile),
      ...findTracingWarnings(env, isSdkLoaded()),
    ];
    return runServeCommand(args, {
      ...OUTPUT,
      checked: { ...checkSettings(config), envFile: describeEnvFile(envFile), warnings },
      start: () => startServer(config, shownSettings(env, envFile.loaded), warnings),
    });
  },
  async catalog(args, given) {
    const { runCatalogCommand } = await import('./cli/catalog.ts');
    const config = given.config();
    return runCatalogCommand(args, {
      ...OUTPUT,
      dataDir: config.dataDir,
      stdin: process.stdin,
      onStopSignal,
      async fetchChannel(refs, signal) {
        const { fetchChannel } = await import('./app/fetch-channel.ts');
        return fetchChannel(config, { version, refs, signal });
      },
      async forget(dataDir, channelId) {
        const { forgetChannel } = await import('./cli/cache/purge.ts');
        return forgetChannel({ ...OUTPUT, ...cacheSettings(config), dataDir, stdin: process.stdin }, channelId);
      },
    });
  },
  async cache(args, given) {
    const { runCacheCommand } = await import('./cli/cache.ts');
    return runCacheCommand(args, { ...OUTPUT, ...cacheSettings(given.config()), stdin: process.stdin });
  },
  async doctor(args, given) {
    const { runDoctorCommand } = await import('./cli/doctor.ts');
    const isTerminal = process.stdout.isTTY === true && process.stdout.hasColors();
    const userAgent = `Pennant/${version}`;
    return runDoctorCommand(args, { ...OUTPUT, ...doctorSettings(given.config()), userAgent, isTerminal });
  },
  async settings(args, { env, envFile, config }) {
    const { runSettingsCommand } = await import('./cli/settings.ts');
    return runSettingsCommand(args, {
      ...OUTPUT,
      envFile: describeEnvFile(envFile),
      settings: shownSettings(env, envFile.loaded),
      warnings: findNameWarnings(env, envFile),
      mistakes: findMistakes(config),
    });
  },
};

function findMistakes(config: () => Config): string | undefined {
  try {
    config();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

function describeEnvFile({ path, isThere, names }: EnvFile): string {
  return isThere ? `${path}, ${formatCount(names.length, 'variable')}` : `there is no ${path}`;
}

async function runCommand(
  [first = 'serve', ...rest]: readonly string[],
  envFile: EnvFile,
): Promise<number | undefined> {
  if (first === '--version') {
    process.stdout.write(`${version}\n`);
    return EXIT.done;
  }
  if (first === '--help' || first === '-h') {
    process.stdout.write(USAGE);
    return EXIT.done;
  }
  const [name, args] = first.startsWith('-') ? ['serve', [first, ...rest]] : [first, rest];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`There is no command "${printable(name)}".\n${USAGE}`);
    return EXIT.usage;
  }
  // `--help` works even when the settings are invalid.
  if (args.includes('--help') || args.includes('-h')) {
    return command(args, { env: {}, envFile, config: () => parseConfig({}) });
  }
  if (envFile.problem !== undefined) {
    process.stderr.write(`${printable(envFile.problem, MAX_PROBLEM_CHARACTERS)}\n`);
    return EXIT.failed;
  }
  return command(args, { env: process.env, envFile, config: () => parseConfig(process.env) });
}

async function startServer(
  config: Config,
  settings: readonly ShownSetting[],
  warnings: readonly string[],
): Promise<number | undefined> {
  // Loaded when needed: a short command should not wait for the whole server.
  const [
    { buildApp },
    { serve },
    { createLogger, createTerminalLog },
    { findStartProblem },
    { markDataDir },
    { removeOwnDrafts },
  ] = await Promise.all([
    import('./app/build.ts'),
    import('./cli/serve/listen.ts'),
    import('./lib/logger.ts'),
    import('./app/start-problem.ts'),
    import('./cli/serve/data-dir-lock.ts'),
    import('./sources/catalog/schema.ts'),
  ]);
  const problem = findStartProblem(config);
  if (problem !== undefined) {
    process.stderr.write(`${printable(problem, MAX_PROBLEM_CHARACTERS)}\n`);
    return EXIT.failed;
  }
  isServing = true;
  const destination = process.stdout.isTTY === true ? await createTerminalLog() : undefined;
  const logger = createLogger({ level: config.logLevel, destination });
  for (const warning of warnings) logger.warn(warning);
  const ports = { PORT: config.port, CONSOLE_PORT: config.consolePort };
  const other = markDataDir(config.dataDir, { pid: process.pid, ports });
  if (other !== undefined) logger.warn({ pid: other.pid }, 'another service uses this DATA_DIR: give each its own');
  return serve({
    async build() {
      const service = await buildApp(config, { logger, version, settings });
      // Writes the compile cache (bin/start.cjs) for the next start. A process that is killed would not write it at its end.
      // Before it listens, because it writes thousands of small files at once, and no client should wait for that.
      flushCompileCache();
      return service;
    },
    onGivenUp: () => removeOwnDrafts(config.dataDir),
    publicListener: { host: config.host, port: config.port },
    privateListener: config.consolePort === 0 ? undefined : { host: config.consoleHost, port: config.consolePort },
    baseUrl: config.baseUrls[0],
    logger,
    stdout: process.stdout,
  });
}

/** The service keeps running when its output cannot be written, for example on a full disk. */
let isServing = false;

/** A closed output (`| head`) is no failure: later output is discarded. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (isServing || error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exit(EXIT.failed);
}

/**
 * Runs the command line.
 *
 * @param args without the program's name
 * @param envFile the result of reading `.env`; its variables are already in `process.env`
 */
export async function main(args: readonly string[], envFile: EnvFile): Promise<void> {
  process.stdout.on('error', onOutputError);
  // It cannot be reported anywhere.
  process.stderr.on('error', () => undefined);
  try {
    const exitCode = await runCommand(args, envFile);
    if (exitCode !== undefined) process.exitCode = exitCode;
  } catch (error) {
    const isExplained = error instanceof ConfigError || error instanceof CommandFailure;
    const failure = isExplained ? error.message : systemFailure(error);
    if (failure === undefined) throw error;
    process.stderr.write(`${failure}\n`);
    process.exit(EXIT.failed);
  }
}
