import { printable } from '../domain/printable.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';
import type { CheckSettings } from './serve/check.ts';

export interface ServeContext extends Output {
  readonly checked: CheckSettings;
  /** Starts the service. Returns `undefined` once it listens, otherwise the exit code. */
  start(): Promise<number | undefined>;
}

const USAGE = `Usage: pennant serve [--check]
`;
const HELP = `${USAGE}
Starts the service, which runs until SIGTERM or SIGINT. It then finishes accepted requests; a start is
stopped within a second. Settings are environment variables; a file .env in the working directory can
set them, too.

  --check   Check the configuration: settings, DATA_DIR, databases, ports and Redis. Starts nothing and
            leaves no files behind. A port in use by another process is an error, a port in use by the
            running service is a note, and a Redis that does not respond is a warning.

Exit code: 0 stopped by a signal, or the check passed; 1 the service cannot start or did not stop
cleanly, or the check failed; 2 invalid arguments.
`;

/** Runs `serve`. Returns the exit code, or `undefined` while the service runs. */
export async function runServeCommand(args: readonly string[], context: ServeContext): Promise<number | undefined> {
  const { stdout, stderr } = context;
  try {
    const { values, positionals } = parseCommandLine(args, { check: { type: 'boolean' } });
    if (positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    if (values.help !== true) return await (values.check === true ? check(context) : context.start());
    stdout.write(HELP);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n${USAGE}`);
    return EXIT.usage;
  }
}

const LEVEL_CHARACTERS = 8;
/** A path and what to do about it. */
const MAX_TEXT_CHARACTERS = 1_000;

async function check({ checked, stdout }: ServeContext): Promise<number> {
  const { checkStart } = await import('./serve/check.ts');
  const findings = await checkStart(checked);
  for (const { level, text } of findings)
    stdout.write(`${level.padEnd(LEVEL_CHARACTERS)} ${printable(text, MAX_TEXT_CHARACTERS)}\n`);
  const hasErrors = findings.some(({ level }) => level === 'error');
  stdout.write(hasErrors ? 'The service cannot start.\n' : 'The service can start.\n');
  return hasErrors ? EXIT.failed : EXIT.done;
}
