import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Block, type Document, nameOf, readDocuments, textPattern } from '../helpers/documents.ts';
import { openShell, type Shell } from '../helpers/shell.ts';

/*
 * Runs every command of the documents as a reader would, and compares every example response. A block that cannot be
 * run is marked in the text with the reason, and is listed here by name.
 */

const DOCUMENTS = readDocuments();
const RUN = new Set(['sh', 'html', 'ts', 'diff']);
const ANSWERS = new Set(['json', 'http', 'text']);

for (const block of DOCUMENTS.flatMap(({ blocks }) => blocks)) {
  if (block.note?.kind === 'not run') console.log(`skipped: ${nameOf(block)} (${block.note.reason})`);
}

function isRun({ language, note }: Block): boolean {
  return RUN.has(language) && note?.kind !== 'not run' && note?.kind !== 'run elsewhere';
}

describe.each(DOCUMENTS.filter(({ blocks }) => blocks.some(isRun)))('$name', ({ blocks }: Document) => {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell(blocks.some((block) => isRun(block) && /localhost:808[01]/.test(block.text)));
  });
  afterAll(() => shell.close());
  let servingSection: string | undefined;

  for (const [index, block] of blocks.entries()) {
    if (!isRun(block)) continue;
    const next = blocks[index + 1];
    const answer =
      next !== undefined && next.section === block.section && ANSWERS.has(next.language) ? next : undefined;
    test(nameOf(block), async () => {
      if (servingSection !== undefined && servingSection !== block.section) await shell.stopServing();
      servingSection = block.section;
      if (block.note?.kind === 'serves') return shell.serve(block.text);
      const given = await follow(block, shell);
      if (answer !== undefined) expect(findDifference(answer.language, answer.text, given)).toBeUndefined();
    });
  }
});

/** Does what a reader would do with the block. Returns what the commands printed. */
async function follow({ language, text }: Block, shell: Shell): Promise<string> {
  switch (language) {
    case 'ts':
      await saveListing(shell.directory, text);
      return '';
    case 'diff':
      await makeChange(shell.directory, text);
      return '';
    case 'html':
      return shell.run(requestsOf(text));
    default:
      return shell.run(text);
  }
}

/** Returns one command for each picture of a page. The command fails if the picture is missing. */
function requestsOf(html: string): string {
  const urls = [...html.matchAll(/(?:src|srcset|href)="(http[^"]+)"/g)].map(([, url]) => url);
  return urls.map((url) => `curl -sSf -o /dev/null '${url}'`).join('\n');
}

/** Saves a listing at the path in its first line. */
async function saveListing(directory: string, listing: string): Promise<void> {
  const [first = '', ...rest] = listing.split('\n');
  const path = join(directory, first.replace(/^\/\/ /, ''));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${rest.join('\n')}\n`);
}

/**
 * Applies a change that a document shows as a unified diff. The hunks have no line numbers, which would become outdated:
 * the lines before the change must be in the file exactly once.
 *
 * @throws Error that names the missing lines
 */
async function makeChange(directory: string, diff: string): Promise<void> {
  for (const change of diff.split(/^--- .*\n\+\+\+ b\//m).slice(1)) {
    const [name = '', ...lines] = change.split('\n');
    const path = join(directory, name);
    let text = await readFile(path, 'utf8');
    for (const hunk of lines
      .join('\n')
      .split(/^@@.*\n/m)
      .slice(1)) {
      const [before, after] = [side(hunk, '-'), side(hunk, '+')];
      if (text.split(before).length !== 2) throw new Error(`${name} does not have this once:\n${before}`);
      text = text.replace(before, () => after);
    }
    await writeFile(path, text);
  }
}

function side(hunk: string, sign: '-' | '+'): string {
  const lines = hunk.trimEnd().split('\n');
  const shown = lines.filter((line) => line.startsWith(' ') || line.startsWith(sign) || line === '');
  return `${shown.map((line) => line.slice(1)).join('\n')}\n`;
}

/** The first difference, or `undefined`. `…` in a text or a header field stands for anything on its line. */
function findDifference(language: string, shown: string, given: string): string | undefined {
  switch (language) {
    case 'json':
      return differenceOf(comparableJson(shown), comparableJson(given));
    case 'http':
      return findHeaderDifference(shown, given);
    default:
      return textPattern(shown).test(given.trim()) ? undefined : differenceOf(shown, given.trim());
  }
}

/** The order of fields counts, because the record defines one. These fields have new values in every response. */
const CHANGING_FIELDS: readonly string[] = ['requestId', 'cacheSeconds'];

function comparableJson(text: string): string {
  const comparable = (name: string, value: unknown) => (CHANGING_FIELDS.includes(name) ? typeof value : value);
  return JSON.stringify(JSON.parse(text), comparable, 1);
}

function differenceOf(shown: string, given: string): string | undefined {
  return shown === given ? undefined : `shown:\n${shown}\ngiven:\n${given}`;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  date: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'last-modified': /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'x-request-id': /^[\w-]+$/,
  'cache-status': /^pennant; (?:hit|fwd)/,
};

function findHeaderDifference(shown: string, given: string): string | undefined {
  const [shownStatus, ...shownFields] = shown.trim().split('\n');
  const [givenStatus, ...givenFields] = given.trim().split('\r\n');
  if (shownStatus !== givenStatus) return differenceOf(shown, given);
  const values = new Map(givenFields.map(readField));
  const wrong = shownFields.find((line) => {
    const [name, value] = readField(line);
    return !isSameField(name, value, values.get(name));
  });
  return wrong === undefined ? undefined : `shown: ${wrong}\ngiven:\n${given}`;
}

function readField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const MAX_AGE = /^public, max-age=(\d+)$/;
/** Time limit for the examples of one document. */
const SECONDS_PASSED = 120;

function isSameField(name: string, shown: string, given = ''): boolean {
  const form = FORMS[name];
  if (form !== undefined) return form.test(given);
  const [shownAge, givenAge] = [MAX_AGE.exec(shown)?.[1], MAX_AGE.exec(given)?.[1]].map(Number);
  if (name === 'cache-control' && Number.isInteger(shownAge) && Number.isInteger(givenAge)) {
    const passed = Number(shownAge) - Number(givenAge);
    return passed >= 0 && passed <= SECONDS_PASSED;
  }
  return textPattern(shown).test(given);
}
