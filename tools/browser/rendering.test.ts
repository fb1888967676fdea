import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowsedService, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* What a page looks like while it loads. */

/** https://web.dev/articles/cls (seen 2026-11): more than this disturbs readers. */
const MAX_SHIFT = 0.1;
/** Adds up the shifts that no input of the visitor caused. Runs before the page's own scripts. */
const OBSERVE = `
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;
/** Images that the page has requested and not got. Those with `loading="lazy"` may be out of view. */
const COUNT_LOADING = "[...document.images].filter(({ complete, loading }) => !complete && loading !== 'lazy').length";

const used = useBrowser();
let service: BrowsedService;
beforeAll(async () => {
  if (hasBrowser) service = await startBrowsedService();
});
afterAll(() => service?.close());

/** Opens the page as a new visitor, and waits until everything is drawn. */
async function open(
  { path, complete }: { readonly path: string; readonly complete: string },
  width: number,
): Promise<Page> {
  const context = await used.browser.newContext({ viewport: { width, height: 850 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(OBSERVE);
  await page.goto(service.consoleOrigin + path);
  await page.locator(complete).first().waitFor({ state: 'attached' });
  await expect.poll(() => page.evaluate(COUNT_LOADING)).toBe(0);
  // What the last image has moved is reported after the frame that shows it.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  return page;
}

/** Where each page is, and what it shows last. */
const PAGES = {
  'first screen of the playground': { path: '/playground/', complete: '#hero-image' },
  'channel page': {
    path: '/playground/?channel=@pennantsample',
    complete: 'body:has(#facts dd):has(header .face img) .device-mobile .banner img',
  },
  'page of a channel without a banner': {
    path: '/playground/?channel=@lanternhours',
    complete: 'body:has(.face img) #facts dd',
  },
  console: { path: '/', complete: 'body:has(#status .status) #settings tr' },
} as const;

describe.skipIf(!hasBrowser).each(Object.keys(PAGES) as (keyof typeof PAGES)[])('the %s', (name) => {
  test.each([390, 1280])('does not move while it loads in a window of %i pixels', async (width) => {
    const page = await open(PAGES[name], width);
    expect(await page.evaluate('window.shift')).toBeLessThan(MAX_SHIFT);
  });
});
