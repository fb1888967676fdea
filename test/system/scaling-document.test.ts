import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const readDocument = () => readFile(join(ROOT, 'docs/scaling.md'), 'utf8');

/** Names of metrics that the sources register. */
async function registeredMetrics(): Promise<Set<string>> {
  const files = await readdir(join(ROOT, 'src'), { recursive: true });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const texts = await Promise.all(sources.map((file) => readFile(join(ROOT, 'src', file), 'utf8')));
  return new Set(texts.flatMap((text) => [...text.matchAll(/'(pennant_\w+)'/g)].map(([, name]) => name as string)));
}

describe('docs/scaling.md', () => {
  test('tells to watch metrics that there are', async () => {
    const registered = await registeredMetrics();
    const named = new Set((await readDocument()).match(/pennant_\w+/g));
    expect(named.size).toBeGreaterThan(8);
    // A histogram is registered under the name that its series begin with.
    const unknown = [...named].filter((name) => !registered.has(name.replace(/_(?:bucket|sum|count)$/, '')));
    expect(unknown).toEqual([]);
  });

  test('names settings that there are', async () => {
    const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env));
    const named = (await readDocument()).match(/`[A-Z][A-Z_]+(?==|`)/g)?.map((match) => match.slice(1)) ?? [];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => name.includes('_') && !known.has(name))).toEqual([]);
  });

  test('shows every plot, and no other', async () => {
    const shown = [...(await readDocument()).matchAll(/\(plots\/([\w-]+\.svg)\)/g)].map(([, name]) => name);
    expect(shown.toSorted()).toEqual((await readdir(join(ROOT, 'docs/plots'))).toSorted());
  });
});
