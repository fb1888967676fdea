import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ROOT } from './documents.ts';

const NOT_COPIED = new Set(['.git', '.env', 'data', 'node_modules']);
/** The files of npm itself beside the packages. Caches of other tools there change while tests run. */
const FILES_OF_NPM = new Set(['.bin', '.package-lock.json']);

/** Copies the project into a directory that exists. Its packages are links, so that they can be removed one by one. */
export async function copyProject(directory: string): Promise<void> {
  for (const name of await readdir(ROOT)) {
    if (!NOT_COPIED.has(name))
      await cp(join(ROOT, name), join(directory, name), { recursive: true, filter: isNoPackage });
  }
  for (const packages of ['node_modules', 'tools/node_modules'])
    if (existsSync(join(ROOT, packages))) await linkPackages(join(ROOT, packages), join(directory, packages));
}

const isNoPackage = (path: string) => basename(path) !== 'node_modules';

/** Links each package separately, so that a command that removes packages does not remove the real ones. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, link] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name.startsWith('@')) await linkPackages(source, link);
    else if (FILES_OF_NPM.has(entry.name)) await cp(source, link, { recursive: true, verbatimSymlinks: true });
    else if (!entry.name.startsWith('.')) await symlink(source, link);
  }
}
