import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Marked } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';
import { describe, expect, test } from 'vitest';
import { parseConfig, SETTINGS } from '../../src/config/settings.ts';
import { type Block, nameOf, ROOT, readDocuments } from '../helpers/documents.ts';

/*
 * The documents refer only to files, headings, scripts and settings that exist, and to commands that CI runs.
 */

const DOCUMENTS = readDocuments();
const BLOCKS = DOCUMENTS.flatMap(({ blocks }) => blocks);

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function named(blocks: readonly Block[]): (readonly [string, Block])[] {
  return blocks.map((block) => [nameOf(block), block] as const);
}

const LANGUAGES = ['sh', 'html', 'ini', 'json', 'http', 'text', 'mermaid', 'js', 'ts', 'diff', 'nginx', 'yaml', 'md'];

test.each(named(BLOCKS))('%s has a language', (_name, { language }) => {
  expect(LANGUAGES).toContain(language);
});

test.each(named(BLOCKS.filter(({ language }) => language === 'ini')))('%s has valid settings', (_name, block) => {
  const known: string[] = Object.values(SETTINGS).map(({ env }) => env);
  const lines = block.text.split('\n').map((line) => line.replace(/(?:^|\s+)#.*$/, ''));
  for (const line of lines.filter((one) => one !== '')) {
    const [, name = line, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    expect(known).toContain(name);
    expect(() => parseConfig({ [name]: value })).not.toThrow();
  }
});

const DEPLOYED = readdirSync(join(ROOT, 'deploy')).map((name) => [`deploy/${name}`, read(`deploy/${name}`)] as const);
/** CONTRIBUTING.md names a source that its reader adds. */
const FINISHED = DOCUMENTS.filter(({ name }) => name !== 'CONTRIBUTING.md');
const SETTINGS_IN_TEXT = [...FINISHED.map(({ name, text }) => [name, text] as const), ...DEPLOYED].flatMap(
  ([name, text]) =>
    Object.values(SETTINGS).flatMap((setting) =>
      [...text.matchAll(new RegExp(`(?<!\\w)${setting.env}=([\\w./:,@%=+-]*\\w)`, 'g'))].map(
        ([assignment, value = '']) => ({ name, assignment, value, setting }),
      ),
    ),
);

test.each(SETTINGS_IN_TEXT)('$name: $assignment is accepted', ({ value, setting }) => {
  // systemd writes the number of the instance for %i.
  expect(() => setting.parse(value.replace('%i', '1'))).not.toThrow();
});

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const inText = DOCUMENTS.flatMap(({ name, spans }) =>
    spans.filter((span) => /^(?:npm|npx|node) /.test(span)).map((command) => [name, command] as const),
  );
  const lines = BLOCKS.filter(({ language }) => language === 'sh').flatMap(({ document, text }) =>
    text.split(/\n|&&|\|/).map((command) => [document, command.trim()] as const),
  );

  test.each([...inText, ...lines])('%s: "%s" names scripts and files that exist', (_document, command) => {
    const [, script] = /\bnpm run (?:-s )?([\w:-]+)/.exec(command) ?? [];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    const [, file] = /\bnode ([\w./-]+\.ts)/.exec(command) ?? [];
    if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true);
  });

  const elsewhere = BLOCKS.flatMap((block) =>
    block.note?.kind === 'run elsewhere' ? [[nameOf(block), block.note.file] as const] : [],
  );

  test.each(elsewhere)('%s is run by %s, which exists', (_name, file) => {
    expect(file).toMatch(/^\.ci\/run$|\.test\.ts$/);
    expect(existsSync(join(ROOT, file))).toBe(true);
  });
});

describe('files', () => {
  const paths = DOCUMENTS.flatMap(({ name, text }) =>
    [...text.matchAll(/(?<![\w./-])((?:[\w-]+\/)+(?:[\w-]+\.(?:ts|js|json|yaml|conf|md|service))?)(?=[`"< ,;.])/g)]
      .map(([, path = '']) => [name, path] as const)
      .filter(([, path]) => isOfTheProject(path)),
  );

  test.each([...new Map(paths.map((path) => [path.join(' '), path])).values()])('%s: %s exists', (_name, path) => {
    expect([path, join('src', path), join('docs', path)].some((one) => existsSync(join(ROOT, one)))).toBe(true);
  });
});

describe('source files', () => {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
  );
  const names = DOCUMENTS.flatMap(({ name, spans }) =>
    spans.filter((span) => /^[\w./-]+\.ts$/.test(span)).map((file) => [name, file] as const),
  );

  test.each([...new Map(names.map((name) => [name.join(' '), name])).values()])('%s: %s exists', (_name, file) => {
    expect(sources.filter((path) => path.endsWith(`/${file}`))).not.toEqual([]);
  });
});

const FOLDERS = ['bench', 'bin', 'deploy', 'docs', 'samples', 'scripts', 'site', 'src', 'test'];
const SRC_FOLDERS = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** `node_modules/`, `data/` and the like are made later; `image/avif` and `a/b` are no paths. */
function isOfTheProject(path: string): boolean {
  const first = path.split('/')[0] ?? '';
  return FOLDERS.includes(first) || (SRC_FOLDERS.includes(first) && path.endsWith('.ts'));
}

function anchorsIn(document: string): string[] {
  new Marked(gfmHeadingId()).parse(read(document));
  return getHeadingList().map(({ id }) => id);
}

describe('links', () => {
  const links = DOCUMENTS.flatMap(({ name, links }) =>
    links.filter((target) => !/^(?:https?|mailto):/.test(target)).map((target) => [name, target] as const),
  );

  test.each(links)('%s leads to %s', (document, target) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? document : join(dirname(document), path);
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    if (anchor !== undefined) expect(anchorsIn(file)).toContain(anchor);
  });
});
