import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Saves a listing under the path that its first line names. */
export async function saveListing(directory: string, listing: string): Promise<void> {
  const [first = '', ...rest] = listing.split('\n');
  const path = join(directory, first.replace(/^\/\/ /, ''));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${rest.join('\n')}\n`);
}

/**
 * Makes a change that a document shows as a unified diff. Its hunks have no line numbers, which nobody would keep right:
 * the lines that are there before the change must be in the file exactly once.
 *
 * @throws Error that names what is not there
 */
export async function makeChange(directory: string, diff: string): Promise<void> {
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
