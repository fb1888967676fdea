import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { parse } from 'yaml';
import { buildApp } from '../src/app/build.ts';
import { fileVariable } from '../src/config/environment.ts';
import { parseConfig, SETTINGS } from '../src/config/settings.ts';
import { sendInProcess } from '../test/helpers/in-process.ts';
import { alertList, code, errorList, fieldList, list, type OpenApi, pathLists, variantTable } from './docs-api.ts';

const ROOT = join(import.meta.dirname, '..');
const PART = /(<!-- npm run docs: (\S+) ?(.*) -->\n)[\s\S]*?(?=<!-- end -->)/g;
const WIDTH = 100;
const ENV_EXAMPLE_HEAD =
  'Every setting with its default. Copy this file to .env and remove the "#" before each setting that you change. ' +
  'Written by `npm run docs` from src/config/settings.ts.';

/**
 * What comes from the code: .env.example, and the parts of documents between `<!-- npm run docs: NAME ARGUMENT… -->` and
 * `<!-- end -->`.
 *
 * @returns the text of each file, by its path in the project
 * @throws Error if docs/api.md does not list a path of the service
 */
export async function generatedDocuments(): Promise<ReadonlyMap<string, string>> {
  const openApi = await readOpenApi();
  const parts: Readonly<Record<string, (words: readonly string[]) => string>> = {
    paths: (paths) => pathLists(paths, openApi),
    fields: ([schema = '']) => fieldList(schema, openApi),
    errors: errorList,
    settings: settingsList,
    variants: variantTable,
    alerts: () => alertList(parse(readFileSync(join(ROOT, 'deploy/alerts.yaml'), 'utf8'))),
  };

  function withParts(name: string): string {
    return readFileSync(join(ROOT, name), 'utf8').replaceAll(
      PART,
      (_part, marker: string, part: string, words: string) => {
        const write = parts[part];
        if (write === undefined) throw new Error(`${name}: there is no part ${part}`);
        return `${marker}${write(words.split(' '))}\n`;
      },
    );
  }

  const documents = ['docs/api.md', 'docs/images.md', 'docs/operating.md', 'docs/settings.md'].map(
    (name) => [name, withParts(name)] as const,
  );
  const texts = new Map([['.env.example', envExample()], ...documents]);
  const missing = Object.keys(openApi.paths).filter((path) => !texts.get('docs/api.md')?.includes(`- \`${path}\`: `));
  if (missing.length > 0) throw new Error(`docs/api.md does not list ${missing.join(', ')}`);
  return texts;
}

/** Reads the document as the service sends it. */
async function readOpenApi(): Promise<OpenApi> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'pennant-docs-'));
  const config = parseConfig({ SOURCES: 'catalog', DATA_DIR: directory.path });
  const app = await buildApp(config, { logger: pino({ level: 'silent' }), version: '' });
  try {
    return (await sendInProcess(app.http, { url: '/openapi.json' })).json<OpenApi>();
  } finally {
    await app.close();
  }
}

function settingsList(): string {
  const settings = list(Object.values(SETTINGS).map(({ env, fallback, doc }) => [code(`${env}=${fallback}`), doc]));
  const secrets = Object.values(SETTINGS).filter(({ isSecret }) => isSecret);
  const namesOf = (nameOf: (env: string) => string) => secrets.map(({ env }) => code(nameOf(env))).join(' and ');
  const note = `${namesOf((env) => env)} are secrets. A secret may be in a file instead: ${namesOf(fileVariable)} take its path.`;
  return `${settings}\n\n${note}`;
}

/** Every setting with its default, all of them commented out. */
function envExample(): string {
  const settings = Object.values(SETTINGS).map(({ env, fallback, doc, isSecret }) => {
    const text = isSecret ? `${doc} Or set ${fileVariable(env)} to the path of a file that holds it.` : doc;
    return `${comment(text)}\n#${env}=${fallback}`;
  });
  return `${[comment(ENV_EXAMPLE_HEAD), ...settings].join('\n\n')}\n`;
}

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
