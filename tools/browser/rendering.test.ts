import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowsedService, factOf, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* What a page looks like while it loads, and with the colours of the visitor's own theme. */

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
  { width = 1280, forcedColors }: { width?: number; forcedColors?: 'active' } = {},
): Promise<Page> {
  const context = await used.browser.newContext({
    viewport: { width, height: 850 },
    ...(forcedColors !== undefined && { forcedColors }),
  });
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
  console: { path: '/', complete: 'body:has(#status .dot) #settings tr' },
} as const;

describe.skipIf(!hasBrowser).each(Object.keys(PAGES) as (keyof typeof PAGES)[])('the %s', (name) => {
  test.each([390, 1280])('does not move while it loads in a window of %i pixels', async (width) => {
    const page = await open(PAGES[name], { width });
    expect(await page.evaluate('window.shift')).toBeLessThan(MAX_SHIFT);
  });
});

describe.skipIf(!hasBrowser)('with forced colors', () => {
  test('the playground shows which option, device and tab is chosen', async () => {
    const page = await open(PAGES['channel page'], { forcedColors: 'active' });
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    const variants = page.locator('#image .segmented label');
    const pairs: [Locator, Locator][] = [
      [variants.filter({ hasText: 'TV' }), variants.filter({ hasText: 'Tablet' })],
      [page.locator('.device-tv .caption'), page.locator('.device-tablet .caption')],
      [page.locator('#image [role=tab]').nth(0), page.locator('#image [role=tab]').nth(1)],
    ];
    const chosen = await Promise.all(pairs.map(([one]) => one.evaluate(coloursOf)));
    const others = await Promise.all(pairs.map(([, other]) => other.evaluate(coloursOf)));
    // The highlight of the theme, everywhere the same, and the plain background.
    const [highlight, ...further] = new Set(chosen.map(({ background }) => background));
    const plain = new Set(others.map(({ background }) => background));
    expect([further, plain.size, plain.has(highlight as string)]).toEqual([[], 1, false]);
    for (const { text, background } of chosen) expect(contrastOf(text, background)).toBeGreaterThan(4.5);
  });
});

function coloursOf(element: unknown): { readonly text: string; readonly background: string } {
  const { getComputedStyle } = globalThis as unknown as {
    getComputedStyle(of: unknown): { color: string; backgroundColor: string };
  };
  const { color, backgroundColor } = getComputedStyle(element);
  return { text: color, background: backgroundColor };
}

/** Of two colours as a style has them (WCAG 2.2). */
function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [...colour.matchAll(/\d+/g)].map(([number]) => {
    const value = Number(number) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
