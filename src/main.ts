import { readFileSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { type Config, ConfigError, parseConfig, SETTINGS, shownSettings } from './config.ts';

const USAGE = `Usage: pennant [serve]           serves (default)
       pennant catalog --help    the operator's own channels
       pennant doctor --help     what the upstream answers today
`;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function main([command = 'serve', ...args]: string[]): Promise<number | undefined> {
  if (command === '--version') {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  if (command === '--help') {
    process.stdout.write(USAGE);
    return 0;
  }
  loadEnvFile();
  const config = parseConfig(process.env);
  switch (command) {
    case 'serve': {
      await startServer(config);
      return undefined;
    }
    case 'catalog': {
      const { runCatalogCommand } = await import('./cli/catalog.ts');
      const { stdout, stderr } = process;
      return runCatalogCommand(args, { dataDir: config.dataDir, stdout, stderr });
    }
    case 'doctor':
      return askUpstream(args, config);
    default:
      process.stderr.write(`There is no command "${command}".\n${USAGE}`);
      return 2;
  }
}

async function askUpstream(args: readonly string[], config: Config): Promise<number> {
  const { runDoctorCommand } = await import('./cli/doctor.ts');
  const { stdout, stderr } = process;
  return runDoctorCommand(args, {
    youtube: {
      origin: config.youtubeOrigin,
      isPublic: config.youtubeOrigin === SETTINGS.youtubeOrigin.fallback,
      clientVersion: config.youtubeClientVersion,
      useFieldMask: config.youtubeFieldMask,
      aboutToken: config.youtubeAboutToken,
    },
    dataApi: {
      origin: config.youtubeApiOrigin,
      isPublic: config.youtubeApiOrigin === SETTINGS.youtubeApiOrigin.fallback,
      apiKey: config.youtubeApiKey,
    },
    imageOrigin: config.youtubeImageOrigin,
    userAgent: `Pennant/${version}`,
    stdout,
    stderr,
    isTerminal: stdout.isTTY === true && stdout.hasColors(),
  });
}

async function startServer(config: Config): Promise<void> {
  // Stripping types and compiling takes most of the start; what is kept in the data directory is used by the next one.
  enableCompileCache(join(config.dataDir, 'compile-cache'));
  // Loaded when needed: a short command should not wait for the whole server.
  const [{ buildApp }, { serve }, { createLogger }] = await Promise.all([
    import('./app.ts'),
    import('./cli/serve.ts'),
    import('./lib/logger.ts'),
  ]);
  const logger = createLogger({ level: config.logLevel, isTerminal: process.stdout.isTTY === true });
  if (config.trustProxy.length > 0 && config.baseUrls.length === 0) {
    logger.warn('TRUST_PROXY is set without BASE_URL: URLs in answers follow each request’s Host');
  }
  const service = await buildApp(config, { logger, version, settings: shownSettings(process.env) });
  // Not at the end: a process that is killed would leave nothing for the next start. Before it listens: it writes
  // thousands of small files in one go, and no client may wait for that.
  flushCompileCache();
  await serve({
    service,
    publicListener: { host: config.host, port: config.port },
    privateListener: config.consolePort === 0 ? undefined : { host: config.consoleHost, port: config.consolePort },
    baseUrl: config.baseUrls[0],
    logger,
    stdout: process.stdout,
  });
}

/** `.env` in the working directory, where there is one; the environment wins. */
function loadEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

try {
  const exitCode = await main(process.argv.slice(2));
  if (exitCode !== undefined) process.exitCode = exitCode;
} catch (error) {
  if (!(error instanceof ConfigError) && (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
