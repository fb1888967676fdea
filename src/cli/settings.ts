import { findWarnings, shownSettings } from '../config/report.ts';
import { parseConfig } from '../config/settings.ts';
import { printable } from '../lib/printable.ts';
import { type Command, formatTable } from './command.ts';

export const settingsCommand: Command = {
  usage: 'settings',
  help: `Shows every setting with its value and origin: default, environment or .env. Secrets are not shown.
Warnings go to stderr.

Exit code: 0 the settings are valid, 1 they are invalid, 2 invalid arguments.`,
  async run(_args, { env, envFile, stdout, stderr }) {
    const config = parseConfig(env);
    const settings = shownSettings(env, envFile.loaded);
    const rows = settings.map(({ name, value, origin }) => [printable(name), origin, printable(value)]);
    stdout.write(`${formatTable(rows)}\n`);
    stdout.write(`\n.env: ${printable(envFile.description)}\n`);
    for (const warning of findWarnings(config, env)) stderr.write(`warning: ${printable(warning)}\n`);
    return true;
  },
};
