import { printable } from '../domain/printable.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';

export interface SettingsContext extends Output {
  /** The path of the file, or a note that there is none. */
  readonly envFile: string;
  readonly settings: readonly { readonly name: string; readonly value: string; readonly origin: string }[];
  readonly warnings: readonly string[];
  /** Why the settings are invalid; `undefined` if they are valid. */
  readonly mistakes: string | undefined;
}

const USAGE = `Usage: pennant settings
`;
const HELP = `${USAGE}
Shows every setting with its value and origin: default, environment or .env. Secrets are not shown.
Warnings go to stderr.

Exit code: 0 the settings are valid, 1 they are invalid, 2 invalid arguments.
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
