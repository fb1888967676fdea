import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { adviceFor } from './advice.ts';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../docs/', import.meta.url));

/** The names in calls of `health.report`. */
const COMPONENTS = new Set(
  globSync('**/*.ts', { cwd: SOURCES })
    .filter((name) => !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(SOURCES + name, 'utf8').matchAll(/health\.report\('([^']+)'/g)])
    .map(([, name = '']) => name),
);
const CAUSES = (['unreachable', 'refused', 'quota', 'failing'] as const).map((cause) => ({
  name: 'source youtube',
  cause,
}));
const OTHERS = [{ name: 'stopping' }, { name: 'source youtube feeds', cause: 'failing' as const }];
const CONDITIONS = [...[...COMPONENTS].map((name) => ({ name })), ...CAUSES, ...OTHERS];

test('every component with a condition, every cause and the stop have their own advice', () => {
  expect(COMPONENTS.size).toBeGreaterThan(3);
  const advice = [...CONDITIONS, { name: 'something new' }].map(adviceFor);
  expect(new Set(advice).size).toBe(advice.length);
});

test('feeds that cannot be reached are not those that fail on most days', () => {
  const unreachable = adviceFor({ name: 'source youtube feeds', cause: 'unreachable' });
  expect(unreachable).toBe(adviceFor({ name: 'image hosts', cause: 'unreachable' }));
  expect(unreachable.todo).toContain('YOUTUBE_ORIGIN');
});

test.each(CONDITIONS)('the guide has the section that is linked for $name $cause', (condition) => {
  const { todo, guide } = adviceFor(condition);
  expect(todo).toMatch(/^[A-Z].*\.$/);
  const [page = '', anchor = ''] = guide.split('#');
  const document = readFileSync(GUIDE + page.replace(/\.html$/, '.md'), 'utf8');
  const headings = [...document.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll(' ', '-'),
  );
  expect(headings).toContain(anchor);
});
