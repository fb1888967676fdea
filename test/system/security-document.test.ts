import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { ROOT, tableRows } from '../helpers/documents.ts';
import { findFreePort } from '../helpers/service-process.ts';

interface Claim {
  /** The first cell: a threat, or the names of holders. */
  readonly subject: string;
  readonly evidence: string;
}

function readClaims(heading: string): Claim[] {
  return tableRows('SECURITY.md', heading).map((cells) => ({ subject: cells[0] ?? '', evidence: cells.at(-1) ?? '' }));
}

const CLAIMS = [...readClaims('Defended'), ...readClaims('What is kept')];

/** What stands in quotation marks; "…" stands for what is left out. */
function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
}

/** True where a name that is written in the source has the quoted text, up to what is left out. */
function isNamedIn(source: string, name: string): boolean {
  const [before = '', after = ''] = name.split('…').map((part) => part.trim());
  if (before === '') return source.includes(`${after}'`);
  const isWhole = !name.includes('…');
  return ["'", '"', '`'].some((mark) => source.includes(isWhole ? `${mark}${before}${mark}` : `${mark}${before}`));
}

describe('SECURITY.md', () => {
  test('has a test for every claim', async () => {
    expect(CLAIMS.length).toBeGreaterThan(45);
    const unproven = CLAIMS.filter(({ evidence }) => quoted(evidence).length === 0);
    expect(unproven.map(({ subject }) => subject)).toEqual([]);
  });

  test('names tests that there are', async () => {
    const missing: string[] = [];
    for (const { evidence } of CLAIMS) {
      const [unit = ''] = evidence.split('faults: ');
      for (const [, path = '', names = ''] of unit.matchAll(/`([^`]+\.ts)`(?: \(((?:"[^"]+"(?:, )?)+)\))?/g)) {
        const source = await readFile(join(ROOT, path), 'utf8').catch(() => '');
        if (names === '') missing.push(`${path}: no test named`);
        missing.push(
          ...quoted(names)
            .filter((name) => !isNamedIn(source, name))
            .map((name) => `${path}: ${name}`),
        );
      }
    }
    expect(missing).toEqual([]);
  });

  test('names rows and subjects that the fault suite has', async () => {
    const directory = join(ROOT, 'test/faults');
    const helpers = ['test/helpers/failure-kinds.ts'];
    const files = [...(await readdir(directory)).map((name) => join(directory, name)), ...helpers];
    const texts = files.filter((file) => !file.endsWith('.test.ts')).map((file) => readFile(file, 'utf8'));
    const sources = (await Promise.all(texts)).join('\n');
    const named = CLAIMS.flatMap(({ evidence }) => quoted(evidence.split('faults: ')[1] ?? ''));
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter((name) => !isNamedIn(sources, name))).toEqual([]);
  });
});

test('what is kept is named in SECURITY.md, all of it', async () => {
  const service = await startTestApp({
    env: {
      SOURCES: 'catalog,youtube,youtube-data-api',
      YOUTUBE_API_KEY: 'key',
      // A Redis that nobody can reach: what is kept for it is there all the same.
      REDIS_URL: `redis://127.0.0.1:${await findFreePort()}`,
    },
  });
  onTestFinished(() => service.close());
  const { stores } = await service.state();
  const named = readClaims('What is kept').flatMap(({ subject }) => [...subject.matchAll(/`([^`]+)`/g)]);
  expect(named.map(([, name]) => name).toSorted()).toEqual(stores.map(({ name }) => name).toSorted());
});

interface LockedPackage {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

test('the lock file names the bytes of every package, and package.json allows one of them a script at installation', async () => {
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
