import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeChange, saveListing } from '../helpers/documents/edits.ts';
import { findDifference } from '../helpers/documents/example-answers.ts';
import { type Block, type Document, nameOf, readDocuments } from '../helpers/documents/markdown.ts';
import { openShell, type Shell } from '../helpers/documents/shell.ts';

/*
 * Every command and every example answer in the documents, done as a reader would do it. A block that cannot be run is
 * marked in the text, says why, and is listed here by name.
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
  let servingSection: number | undefined;

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

/** Does what a reader would do with the block; answers what commands wrote. */
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

/** For each picture in a page: a command that fails where there is none. */
function requestsOf(html: string): string {
  const urls = [...html.matchAll(/(?:src|srcset|href)="(http[^"]+)"/g)].map(([, url]) => url);
  return urls.map((url) => `curl -sSf -o /dev/null '${url}'`).join('\n');
}
