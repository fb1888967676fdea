import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, tableRows } from '../helpers/documents.ts';

test('SECURITY.md names an existing test for every threat', () => {
  const threats = tableRows('SECURITY.md', 'Threats');
  const named = threats.map((cells) =>
    [...(cells.at(-1) ?? '').matchAll(/`([^`]+\.ts)`/g)].map(([, file = '']) => file),
  );
  expect(threats.filter((_, at) => named[at]?.length === 0)).toEqual([]);
  expect(named.flat().filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

interface LockedPackage {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

test('the lock file has a digest of every package, and package.json permits one installation script', async () => {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
  const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const { allowScripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  const named = scripts.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(named.toSorted()).toEqual(Object.keys(allowScripts).toSorted());
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
});
