import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, usePlayground } from './browser.ts';

/* What somebody sees first: before the script of a page is there, without scripts, and as a preview of a link. */

const used = usePlayground();

const PAGES = [
  { path: '/playground/', words: 'Any YouTube channel’s banner, avatar and numbers, as a URL', scripts: 1 },
  { path: '/playground/api.html', words: 'Every response is JSON or an image', scripts: 0 },
  { path: '/', words: 'Loading…', scripts: 1 },
];

async function openPage(javaScriptEnabled = true) {
  const context = await used.browser.newContext({ javaScriptEnabled });
  onTestFinished(() => context.close());
  return context.newPage();
}

describe.skipIf(!hasBrowser)('a page', () => {
  test.each(PAGES)(
    'at $path has its first words without a script, and needs $scripts script and one style sheet',
    async ({ path, words, scripts }) => {
      const page = await openPage();
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.resourceType()));
      await page.route('**/*.js', (route) => route.abort());
      await page.goto(used.service.consoleOrigin + path);
      expect(await page.getByText(words).first().isVisible()).toBe(true);
      expect(requested.filter((type) => type === 'stylesheet')).toEqual(['stylesheet']);
      expect(requested.filter((type) => type === 'script')).toHaveLength(scripts);
    },
  );

  test.each(['/playground/', '/'])(
    'at %s says without JavaScript what works, and shows nothing that does not',
    async (path) => {
      const page = await openPage(false);
      await page.goto(used.service.consoleOrigin + path);
      expect(await page.locator('.notice:visible').innerText()).toContain('This page needs JavaScript.');
      for (const control of await page.locator('input, textarea, button, select, summary').all()) {
        expect(await control.isVisible()).toBe(false);
      }
      expect(await page.getByText('Loading…').isVisible()).toBe(false);
      for (const link of await page.locator('a:visible').all()) {
        const { href } = await link.evaluate((element) => ({
          href: String((element as unknown as { href: string }).href),
        }));
        expect([href, (await fetch(href)).status]).toEqual([href, 200]);
      }
    },
  );
});
