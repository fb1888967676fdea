import { printable } from '../domain/printable.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';
import type { CheckSettings } from './serve/check.ts';

export interface ServeContext extends Output {
  readonly checked: CheckSettings;
  /** Starts the service: `undefined` once it listens, or the exit code. */
  start(): Promise<number | undefined>;
}

const USAGE = `Usage: pennant serve [--check]
`;
const HELP = `${USAGE}
Starts the service and serves until SIGTERM or SIGINT; accepted requests then finish first, and a start
ends within a second. Settings are environment variables, and those of a file .env in the working
directory.

  --check   only looks whether it would start: every setting, DATA_DIR, the databases in it, the
            ports, Redis. Starts nothing and leaves nothing behind. A port that another process uses
            is an error, one of the running service a note; a Redis that does not answer is a warning.

Exit code: 0 stopped by a signal, or it would start; 1 it cannot start, or could not stop in order;
2 unusable arguments.
`;

/** Runs `serve`: the exit code, or `undefined` while the service runs. */
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
  stdout.write(hasErrors ? 'The service would not start as it should.\n' : 'The service would start.\n');
  return hasErrors ? EXIT.failed : EXIT.done;
}
