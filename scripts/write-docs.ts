import { readFileSync, writeFileSync } from 'node:fs';
import { SETTINGS } from '../src/config.ts';

/* Writes what the documents repeat from the code: the README's table of settings. */

const README = new URL('../README.md', import.meta.url);
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ env, fallback, doc }) => {
    const shown = fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${env}\` | ${shown} | ${doc.replaceAll('|', '\\|')} |`;
  });
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

const readme = readFileSync(README, 'utf8');
const [before, rest] = readme.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`README.md lacks "${BEGIN}" or "${END}"`);
writeFileSync(README, `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`);
