import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConfig, SETTINGS } from '../../src/config/settings.ts';
import { type Block, nameOf, ROOT, readDocuments } from '../helpers/documents/markdown.ts';

/*
 * What the documents refer to is there: files, headings, scripts, settings, and the commands that CI is said to run.
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

test.each(named(BLOCKS))('%s says what it is written in', (_name, { language }) => {
  expect(LANGUAGES).toContain(language);
});

test.each(named(BLOCKS.filter(({ language }) => language === 'ini')))(
  '%s: settings that can be used',
  (_name, block) => {
    const known: string[] = Object.values(SETTINGS).map(({ env }) => env);
    const lines = block.text.split('\n').map((line) => line.replace(/(?:^|\s+)#.*$/, ''));
    for (const line of lines.filter((one) => one !== '')) {
      const [, name = line, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
      expect(known).toContain(name);
      expect(() => parseConfig({ [name]: value })).not.toThrow();
    }
  },
);

describe('commands', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const spans = DOCUMENTS.flatMap(({ name, text }) =>
    [...text.matchAll(/`((?:npm|npx|node) [^`]+)`/g)].map(([, command = '']) => [name, command] as const),
  );
  const lines = BLOCKS.filter(({ language }) => language === 'sh').flatMap(({ document, text }) =>
    text.split(/\n|&&|\|/).map((command) => [document, command.trim()] as const),
  );

  test.each([...spans, ...lines])('%s: "%s" names scripts and files that there are', (_document, command) => {
    const [, script] = /\bnpm run (?:-s )?([\w:-]+)/.exec(command) ?? [];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    const [, file] = /\bnode ([\w./-]+\.ts)/.exec(command) ?? [];
    if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true);
  });

  const elsewhere = BLOCKS.flatMap((block) =>
    block.note?.kind === 'run elsewhere' ? [[nameOf(block), block.note.file, block.text] as const] : [],
  );

  const ci = commandsOf(read('.ci/run'));
  // `npm run test:all` is `npm test` and more.
  const isDoneByCi = (command: string) =>
    ci.includes(command) || (command === 'npm test' && ci.includes('npm run -s test:all'));

  test.each(elsewhere)('%s: %s does it', (_name, file, text) => {
    const commands = text.split(/\n|&&/).map((command) => command.replace(/#.*/, '').trim());
    for (const command of commands.filter((one) => /^np[mx] /.test(one) && !isDoneByCi(one))) {
      // A test spells a command as a list of words: the one that says what is done has to be there.
      expect([file, read(file)]).toEqual([
        expect.stringMatching(/\.test\.ts$/),
        expect.stringContaining(verbOf(command)),
      ]);
    }
  });
});

function verbOf(command: string): string {
  return `'${command.split(' ')[1]}'`;
}

/** Without comments, titles and what is only printed. */
function commandsOf(script: string): string {
  return script.replaceAll(/^\s*(?:#|echo).*$/gm, '').replaceAll(/step '[^']*'/g, 'step');
}

describe('files', () => {
  const paths = DOCUMENTS.flatMap(({ name, text }) =>
    [...text.matchAll(/(?<![\w./-])((?:[\w-]+\/)+(?:[\w-]+\.(?:ts|js|json|yaml|conf|md|service))?)(?=[`"< ,;.])/g)]
      .map(([, path = '']) => [name, path] as const)
      .filter(([, path]) => isOfTheProject(path)),
  );

  test.each([...new Map(paths.map((path) => [path.join(' '), path])).values()])('%s names %s', (_name, path) => {
    expect([path, join('src', path), join('docs', path)].some((one) => existsSync(join(ROOT, one)))).toBe(true);
  });
});

describe('source files', () => {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `/${folder}/${path}`),
  );
  const names = DOCUMENTS.flatMap(({ name, text }) =>
    [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = '']) => [name, file] as const),
  );

  test.each([...new Map(names.map((name) => [name.join(' '), name])).values()])('%s names %s', (_name, file) => {
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

describe('links', () => {
  const links = DOCUMENTS.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => [name, target] as const),
  );

  test.each(links)('%s leads to %s', (document, target) => {
    const [path = '', heading] = target.split('#');
    const file = path === '' ? document : join(dirname(document), path);
    expect(existsSync(join(ROOT, file)), file).toBe(true);
    if (heading !== undefined) expect(headingsOf(read(file))).toContain(heading);
  });
});

/** As GitHub names them in addresses. */
function headingsOf(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title);
  return headings.map((title) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
