import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createVitest } from 'vitest/node';
import { startTestApp } from '../helpers/app.ts';
import { ROOT, tableRows, textPattern } from '../helpers/documents.ts';
import { findFreePort } from '../helpers/process.ts';

const CLAIMS = readSecurityClaims();

/** A row of SECURITY.md with the tests that prove it. Names may have `…` in them. */
interface Claim {
  /** A threat, or the names of holders. */
  readonly subject: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  /** Rows or subjects of the fault suite. */
  readonly faults: readonly string[];
}

function readSecurityClaims(): Claim[] {
  const rows = ['Defended', 'What is kept'].flatMap((heading) => tableRows('SECURITY.md', heading));
  return rows.map((cells) => {
    const [tests = '', faults = ''] = (cells.at(-1) ?? '').split('faults: ');
    const inFiles = [...tests.matchAll(/`([^`]+\.ts)`([^`]*)/g)];
    return {
      subject: cells[0] ?? '',
      tests: inFiles.flatMap(([, file = '', names = '']) => quoted(names).map((name) => ({ file, name }))),
      faults: quoted(faults),
    };
  });
}

function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
}

/** The names of the tests and their groups in each file, skipped ones included. */
async function listTests(files: string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const vitest = await createVitest('test', { watch: false, config: false, root: ROOT, include: files });
  onTestFinished(() => vitest.close());
  const modules = await vitest.parseSpecifications(await vitest.globTestSpecifications());
  return new Map(
    modules.map(({ moduleId, children }) => {
      const names = [...children.allTests(), ...children.allSuites()].map(({ name }) => name);
      return [relative(ROOT, moduleId), names];
    }),
  );
}

function patternOf(name: string): RegExp {
  return textPattern(name.replaceAll(/ ?… ?/g, '…'));
}

describe('SECURITY.md', () => {
  test('names a test for every claim', () => {
    expect(CLAIMS.length).toBeGreaterThan(45);
    const unproven = CLAIMS.filter(({ tests, faults }) => tests.length + faults.length === 0);
    expect(unproven.map(({ subject }) => subject)).toEqual([]);
  });

  test('names tests that exist', async () => {
    const named = CLAIMS.flatMap(({ tests }) => tests);
    const tests = await listTests([...new Set(named.map(({ file }) => file))]);
    const missing = named.filter(({ file, name }) => !tests.get(file)?.some((test) => patternOf(name).test(test)));
    expect(missing).toEqual([]);
  });

  test('names rows and subjects of the fault suite', async () => {
    const directory = join(ROOT, 'test/faults');
    const files = (await readdir(directory)).filter((name) => !name.endsWith('.test.ts'));
    const paths = [...files.map((name) => join(directory, name)), join(ROOT, 'test/helpers/failure-kinds.ts')];
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    const names = CLAIMS.flatMap(({ faults }) => faults);
    expect(names.length).toBeGreaterThan(25);
    // The rows exist only after the attacks have run, so their names are looked for in the suite's source.
    const isNamed = (name: string) => texts.some((text) => text.includes(name.split(/ ?… ?/)[0] ?? ''));
    expect(names.filter((name) => !isNamed(name))).toEqual([]);
  });
});

test('SECURITY.md lists every holder that the service registers', async () => {
  const service = await startTestApp({
    env: {
      SOURCES: 'catalog,youtube,youtube-data-api',
      YOUTUBE_API_KEY: 'key',
      // This Redis cannot be reached, but its holders are registered nevertheless.
      REDIS_URL: `redis://127.0.0.1:${await findFreePort()}`,
    },
  });
  onTestFinished(() => service.close());
  const { stores } = await service.state();
  const named = tableRows('SECURITY.md', 'What is kept').flatMap(([cell = '']) => [...cell.matchAll(/`([^`]+)`/g)]);
  expect(named.map(([, name]) => name).toSorted()).toEqual(stores.map(({ name }) => name).toSorted());
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
