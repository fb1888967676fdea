import { printable } from '../domain/printable.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';

export interface SettingsContext extends Output {
  /** The file's path, or that there is none. */
  readonly envFile: string;
  readonly settings: readonly { readonly name: string; readonly value: string; readonly origin: string }[];
  readonly warnings: readonly string[];
  /** Why the settings cannot be used; `undefined`: they can. */
  readonly mistakes: string | undefined;
}

const USAGE = `Usage: pennant settings
`;
const HELP = `${USAGE}
Shows every setting that is in force and where it comes from: default, environment or .env. Secrets
are not shown. What looks like a mistake is on stderr.

Exit code: 0 the settings can be used, 1 they cannot, 2 unusable arguments.
`;

export function runSettingsCommand(args: readonly string[], context: SettingsContext): number {
  const { stdout, stderr } = context;
  try {
    const { values, positionals } = parseCommandLine(args, {});
    if (positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    if (values.help !== true) return show(context);
    stdout.write(HELP);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n${USAGE}`);
    return EXIT.usage;
  }
}

function show({ stdout, stderr, envFile, settings, warnings, mistakes }: SettingsContext): number {
  const nameWidth = Math.max(...settings.map(({ name }) => name.length));
  const originWidth = Math.max(...settings.map(({ origin }) => origin.length));
  for (const { name, value, origin } of settings) {
    const shown = printable(value);
    stdout.write(
      `${printable(name).padEnd(nameWidth)}  ${origin.padEnd(originWidth)}  ${shown}`.trimEnd().concat('\n'),
    );
  }
  stdout.write(`\n.env: ${printable(envFile)}\n`);
  for (const warning of warnings) stderr.write(`warning: ${printable(warning)}\n`);
  if (mistakes === undefined) return EXIT.done;
  stderr.write(`${mistakes}\n`);
  return EXIT.failed;
}
