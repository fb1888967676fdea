import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EVERY_SOURCE, startTestApp } from '../helpers/app.ts';
import { findFreePort } from '../helpers/service-process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENT = readFileSync(join(ROOT, 'docs/operating.md'), 'utf8');

/** The first cells of the table under a heading, without their backticks. */
function namedUnder(heading: string): string[] {
  const section = DOCUMENT.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);
}

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'));

test('docs/operating.md names every metric there is, and no other', async () => {
  // A Redis that nobody can reach: its metrics are there all the same.
  const env = { ...EVERY_SOURCE, REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` };
  const service = await startTestApp({ env });
  try {
    const { text } = await service.console('/metrics');
    const given = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    expect(given.length).toBeGreaterThan(20);
    expect(namedUnder('Metrics').toSorted()).toEqual(given.toSorted());
  } finally {
    await service.close();
  }
});

test('docs/operating.md names log lines that the sources write', () => {
  const all = SOURCES.join('\n');
  const named = namedUnder('Log lines');
  expect(named.length).toBeGreaterThan(15);
  for (const line of named) {
    // A part's state is logged as its name and what is wrong with it, which stand apart in the sources.
    const [, part, problem = ''] = /^([a-z ]+): (.+)$/.exec(line) ?? [];
    const isPart = part !== undefined && !all.includes(line);
    const words = (isPart ? problem : line).replace(/^… /, '').replace(/\(?….*$/, '');
    expect(all.includes(words), line).toBe(true);
    if (isPart) expect(all.includes(`'${part}'`), line).toBe(true);
  }
});

test('docs/operating.md names every line from info on that the sources write with words of their own', () => {
  const calls = SOURCES.flatMap((text) => text.split(/logger(?:\.(?:info|warn|error)|\[level\])\(/).slice(1));
  const written = calls.map((call) => /'([^']{4,})',?\s*\)/.exec(call.slice(0, 400))?.[1]).filter((words) => words);
  expect(written.length).toBeGreaterThan(12);
  const named = namedUnder('Log lines');
  expect(written.filter((words) => !named.includes(words ?? ''))).toEqual([]);
});
