import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { adviceFor } from './advice.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../docs/', import.meta.url));

/** The names in calls of `health.report` and in the lists of conditions. */
function namedConditions(): string[] {
  const texts = globSync('**/*.ts', { cwd: SOURCES })
    .filter((name) => !name.endsWith('.test.ts'))
    .map((name) => readFileSync(SOURCES + name, 'utf8'));
  const calls = texts.flatMap((text) => [...text.matchAll(/health\.report\('([^']+)'/g)]);
  return [...new Set(calls.map(([, name = '']) => name))];
}

test('there is advice for every component that reports its problems, for sources and for the stop', () => {
  const components = namedConditions();
  expect(components.toSorted()).toEqual(expect.arrayContaining(['cache', 'catalog', 'encoder', 'redis']));
  const others = ['source youtube', 'source youtube-data-api searches', 'image hosts', 'stopping'];
  expect([...components, ...others].filter((name) => adviceFor(name) === adviceFor('something new'))).toEqual([]);
});

test('feeds, which fail on most days, need no doctor', () => {
  expect(adviceFor('source youtube').todo).toContain('doctor');
  expect(adviceFor('source youtube feeds').todo).not.toContain('doctor');
});

test.each([
  ...namedConditions(),
  'source youtube',
  'source youtube feeds',
  'source youtube-data-api',
  'image hosts',
  'stopping',
  'something new',
])('the guide has the section that is linked for the condition %s', (condition) => {
  const { todo, guide } = adviceFor(condition);
  expect(todo).toMatch(/^[A-Z].*\.$/);
  const [page = '', anchor = ''] = guide.split('#');
  const document = readFileSync(GUIDE + page.replace(/\.html$/, '.md'), 'utf8');
  const headings = [...document.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll(' ', '-'),
  );
  expect(headings).toContain(anchor);
});
