import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';

export interface ServeContext extends Output {
  /** Starts the service; resolves once it listens. */
  start(): Promise<void>;
}

const USAGE = `Usage: pennant serve
`;
const HELP = `${USAGE}
Starts the service and serves until SIGTERM or SIGINT; accepted requests then finish first. Settings
are environment variables, and those of a file .env in the working directory.

Exit code: 0 stopped in order, 1 it cannot start or could not stop, 2 unusable arguments.
`;

/** Runs `serve`: the exit code, or `undefined` while the service runs. */
export async function runServeCommand(args: readonly string[], context: ServeContext): Promise<number | undefined> {
  const { stdout, stderr, start } = context;
  try {
    const { values, positionals } = parseCommandLine(args, {});
    if (positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    if (values.help === true) {
      stdout.write(HELP);
      return EXIT.done;
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n${USAGE}`);
    return EXIT.usage;
  }
  await start();
  return undefined;
}
