import { readFileSync, writeFileSync } from 'node:fs';
import { fileVariable } from '../src/config/environment.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { apiDocument } from './docs-api.ts';
import { code, table } from './docs-markdown.ts';

/* Writes the files that are generated from the code: docs/api.md, the table in docs/settings.md and .env.example. */

const ROOT = new URL('../', import.meta.url);
const SETTINGS_PAGE = new URL('docs/settings.md', ROOT);
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';
const WIDTH = 100;

function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ env, fallback, doc }) => [
    code(env),
    fallback === '' ? '' : code(fallback),
    doc,
  ]);
  return `${table(['variable', 'default', 'meaning'], rows)}\n\n${secretsNote()}`;
}

function secretsNote(): string {
  const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret);
  const names = secrets.map(({ env }) => code(env)).join(' and ');
  const files = secrets.map(({ env }) => code(fileVariable(env))).join(' and ');
  return `${names} are secrets. A secret may be in a file instead: ${files} take its path.`;
}

/** Every setting with its default, all of them commented out. */
function envExample(): string {
  const settings = Object.values(SETTINGS).map(({ env, fallback, doc, isSecret }) => {
    const text = isSecret ? `${doc} Or set ${fileVariable(env)} to the path of a file that holds it.` : doc;
    return `${comment(text)}\n#${env}=${fallback}`;
  });
  return `${[comment(ENV_EXAMPLE_HEAD), ...settings].join('\n\n')}\n`;
}

const ENV_EXAMPLE_HEAD =
  'Every setting with its default. Copy this file to .env and remove the "#" before each setting that you change. ' +
  'Written by `npm run docs` from src/config/settings.ts.';

/** Comment lines of at most `WIDTH` characters. */
function comment(text: string): string {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= WIDTH) lines[lines.length - 1] = line;
    else lines.push(`# ${word}`);
  }
  return lines.join('\n');
}

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
writeFileSync(new URL('docs/api.md', ROOT), await apiDocument(version));
writeFileSync(new URL('.env.example', ROOT), envExample());

const page = readFileSync(SETTINGS_PAGE, 'utf8');
const [before, rest] = page.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`docs/settings.md lacks "${BEGIN}" or "${END}"`);
writeFileSync(SETTINGS_PAGE, `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`);
