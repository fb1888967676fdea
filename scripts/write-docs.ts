import { readFileSync, writeFileSync } from 'node:fs';
import { SETTINGS } from '../src/config.ts';
import { fileVariable } from '../src/secret-files.ts';

/* Writes what the documents repeat from the code: the README's table of settings. */

const README = new URL('../README.md', import.meta.url);
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ env, fallback, doc }) => {
    const shown = fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${env}\` | ${shown} | ${doc.replaceAll('|', '\\|')} |`;
  });
  return ['| variable | default | meaning |', '|---|---|---|', ...rows, '', secretsNote()].join('\n');
}

function secretsNote(): string {
  const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret);
  const names = secrets.map(({ env }) => `\`${env}\``).join(' and ');
  const files = secrets.map(({ env }) => `\`${fileVariable(env)}\``).join(' and ');
  return `${names} may be in files instead, which ${files} name (Docker, Kubernetes and systemd hand secrets over so).`;
}

const readme = readFileSync(README, 'utf8');
const [before, rest] = readme.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`README.md lacks "${BEGIN}" or "${END}"`);
writeFileSync(README, `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`);
