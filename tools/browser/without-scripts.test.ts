import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, usePlayground } from './browser.ts';

const used = usePlayground();

describe.skipIf(!hasBrowser)('without JavaScript', () => {
  test.each(['/playground/', '/'])('the page at %s says what works', async (path) => {
    const context = await used.browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(used.service.consoleOrigin + path);
    expect(await page.locator('.notice').innerText()).toContain('This page needs JavaScript.');
    for (const link of await page.locator('a').all()) {
      const href = new URL((await link.getAttribute('href')) ?? '', page.url());
      expect([href.pathname, (await fetch(href)).status]).toEqual([href.pathname, 200]);
    }
  });
});
