import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { EXIT } from './cli/command-line.ts';
import { systemFailure } from './cli/failure.ts';
import { cacheSettings, checkSettings, doctorSettings, settingsWarnings } from './composition/command-settings.ts';
import { type Config, ConfigError, parseConfig, shownSettings } from './config.ts';

const USAGE = `Usage: pennant [serve]     serves (default)
       pennant catalog     the operator's own channels
       pennant cache       what is stored: figures, and how to be rid of it
       pennant doctor      what the upstream answers today

Each takes --help. pennant --version says which version this is.
`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const OUTPUT = { stdout: process.stdout, stderr: process.stderr };

/** Each answers the exit code, or `undefined` while it runs on. */
const COMMANDS: Record<string, (args: readonly string[], config: Config) => Promise<number | undefined>> = {
  async serve(args, config) {
    const { runServeCommand } = await import('./cli/serve.ts');
    return runServeCommand(args, { ...OUTPUT, checked: checkSettings(config), start: () => startServer(config) });
  },
  async catalog(args, config) {
    const [{ runCatalogCommand }, { onStopSignal }] = await Promise.all([
      import('./cli/catalog.ts'),
      import('./cli/stop-signals.ts'),
    ]);
    return runCatalogCommand(args, { ...OUTPUT, dataDir: config.dataDir, onStopSignal });
  },
  async cache(args, config) {
    const { runCacheCommand } = await import('./cli/cache.ts');
    return runCacheCommand(args, { ...OUTPUT, ...cacheSettings(config), stdin: process.stdin });
  },
  async doctor(args, config) {
    const { runDoctorCommand } = await import('./cli/doctor.ts');
    const isTerminal = process.stdout.isTTY === true && process.stdout.hasColors();
    const userAgent = `Pennant/${version}`;
    return runDoctorCommand(args, { ...OUTPUT, ...doctorSettings(config), userAgent, isTerminal });
  },
};

async function main([first = 'serve', ...rest]: readonly string[]): Promise<number | undefined> {
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
    process.stderr.write(`There is no command "${name}".\n${USAGE}`);
    return EXIT.usage;
  }
  loadEnvFile();
  // Help comes also where the settings are what needs it.
  const isHelpWanted = args.includes('--help') || args.includes('-h');
  return command(args, parseConfig(isHelpWanted ? {} : process.env));
}

async function startServer(config: Config): Promise<number | undefined> {
  // Loaded when needed: a short command should not wait for the whole server.
  const [{ buildApp }, { serve }, { createLogger }, { findDataVersionProblem }] = await Promise.all([
    import('./app.ts'),
    import('./cli/serve/listen.ts'),
    import('./lib/logger.ts'),
    import('./composition/version-problem.ts'),
  ]);
  const problem = findDataVersionProblem(config);
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    return EXIT.failed;
  }
  const logger = createLogger({ level: config.logLevel, destination: await findTerminalLog() });
  for (const warning of settingsWarnings(config)) logger.warn(warning);
  return serve({
    async build() {
      const service = await buildApp(config, { logger, version, settings: shownSettings(process.env) });
      // What bin/start.cjs keeps for the next start. Not at the end: a process that is killed would leave nothing.
      // Before it listens: it writes thousands of small files in one go, and no client may wait for that.
      flushCompileCache();
      return service;
    },
    publicListener: { host: config.host, port: config.port },
    privateListener: config.consolePort === 0 ? undefined : { host: config.consoleHost, port: config.consolePort },
    baseUrl: config.baseUrls[0],
    logger,
    stdout: process.stdout,
  });
}

/** Loaded only where people look on: no service manager has a use for it. */
async function findTerminalLog() {
  if (process.stdout.isTTY !== true) return undefined;
  const { createTerminalLog } = await import('./lib/terminal-log.ts');
  return createTerminalLog();
}

/** `.env` in the working directory, where there is one; the environment wins. */
function loadEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** A reader that has seen enough (`| head`) is no failure: what is written from then on goes nowhere. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
}

for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
try {
  const exitCode = await main(process.argv.slice(2));
  if (exitCode !== undefined) process.exitCode = exitCode;
} catch (error) {
  const failure = error instanceof ConfigError ? error.message : systemFailure(error);
  if (failure === undefined) throw error;
  process.stderr.write(`${failure}\n`);
  process.exit(EXIT.failed);
}
