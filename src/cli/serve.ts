import { findWarnings } from '../config/report.ts';
import { parseConfig } from '../config/settings.ts';
import { printable } from '../lib/printable.ts';
import { type Command, MAX_ADVICE_CHARACTERS } from './command.ts';

const LEVEL_CHARACTERS = 8;

export const serveCommand: Command = {
  usage: 'serve [--check]',
  help: `Starts the service, which runs until SIGTERM or SIGINT. It then finishes accepted requests; a start is
stopped within a second. Settings are environment variables; a file .env in the working directory can
set them, too.

  --check   Check the configuration: settings, DATA_DIR, cache.db, ports and Redis. Starts nothing and
            leaves no files behind. While the service runs, its ports are not checked. A Redis that does
            not respond is a warning.

Exit code: 0 stopped by a signal, or the check passed; 1 the service cannot start or did not stop
cleanly, or the check failed; 2 invalid arguments.`,
  flags: ['check'],
  async run(_args, context) {
    const { env, envFile, flags, stdout } = context;
    const config = parseConfig(env);
    const warnings = findWarnings(config, env);
    if (!flags.has('check')) {
      // Loaded when needed: `--help` should not wait for the whole server.
      const { startService } = await import('./serve/start.ts');
      return startService(config, warnings, context);
    }
    const { checkStart } = await import('./serve/check.ts');
    const findings = await checkStart(config, envFile.description, warnings);
    for (const { level, text } of findings)
      stdout.write(`${level.padEnd(LEVEL_CHARACTERS)} ${printable(text, MAX_ADVICE_CHARACTERS)}\n`);
    const hasErrors = findings.some(({ level }) => level === 'error');
    stdout.write(hasErrors ? 'Correct the errors before you start the service.\n' : 'The service can start.\n');
    return !hasErrors;
  },
};
