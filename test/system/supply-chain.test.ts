import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../helpers/documents.ts';

interface LockedPackage {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

async function readJson(path: string) {
  return JSON.parse(await readFile(join(ROOT, path), 'utf8'));
}

test('the lock file has a digest of every package, and package.json permits one installation script', async () => {
  const lock = (await readJson('package-lock.json')) as { packages: Record<string, LockedPackage> };
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
  const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const { allowScripts } = (await readJson('package.json')) as { allowScripts: Readonly<Record<string, boolean>> };
  const named = scripts.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(named.toSorted()).toEqual(Object.keys(allowScripts).toSorted());
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
});
