import { readFileSync, writeFileSync } from 'node:fs';
import { fileVariable } from '../src/config/secret-files.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { apiDocument } from './docs-api.ts';
import { code, table } from './docs-markdown.ts';

/* Writes what the documents repeat from the code: the README's table of settings, and docs/api.md. */

const ROOT = new URL('../', import.meta.url);
const README = new URL('README.md', ROOT);
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

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
  return `${names} may be in files instead, which ${files} name (Docker, Kubernetes and systemd hand secrets over so).`;
}

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
writeFileSync(new URL('docs/api.md', ROOT), await apiDocument(version));

const readme = readFileSync(README, 'utf8');
const [before, rest] = readme.split(BEGIN);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`README.md lacks "${BEGIN}" or "${END}"`);
writeFileSync(README, `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`);
