import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowsedService, createHold, factOf, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

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

/** Changes of single pixels, such as a name that gets its own font size. */
const MAX_SMALL_SHIFT = 0.005;
const FIRST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver(resolve).observe({ type: 'paint', buffered: true });
}).then(() => undefined)`;

describe.skipIf(!hasBrowser).each(['/playground/', '/playground/?channel=@lanternhours'])(
  'the playground at %s',
  (path) => {
    test.each([390])('does not move when its script comes late, at %i pixels', async (width) => {
      const context = await used.browser.newContext({ viewport: { width, height: 850 } });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const script = createHold();
      await page.route('**/playground.js', script.handle);
      await page.addInitScript(OBSERVE);
      await page.goto(service.consoleOrigin + path, { waitUntil: 'commit' });
      await script.reached;
      await page.evaluate(FIRST_PAINT);
      script.release();
      await page.locator('.face img, #hero-image').first().waitFor();
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
      expect(await page.evaluate('window.shift')).toBeLessThan(MAX_SMALL_SHIFT);
    });
  },
);

/** The frame's share of the width on each side (web/styles/devices.css). */
const FRAME_SHARE = 0.012;

describe.skipIf(!hasBrowser)('the TV', () => {
  test('has no light line beside its banner, in a window of any width', async () => {
    const complete = '.device-tv .banner img';
    const page = await open({ path: '/playground/?channel=@fernwick.works', complete });
    for (const width of [390, 1281, 1333]) {
      await page.setViewportSize({ width, height: 850 });
      const tv = sharp(await page.locator('.device-tv .screen').screenshot());
      const { data, info } = await tv.greyscale().raw().toBuffer({ resolveWithObject: true });
      const row = [...data.subarray(Math.round(info.height / 2) * info.width).subarray(0, info.width)];
      // The frame and this banner's edges are dark. The outermost pixels are partly the page's.
      const depth = Math.ceil(info.width * FRAME_SHARE) + 3;
      const edges = [...row.slice(1, depth), ...row.slice(-depth, -1)];
      expect([width, Math.max(...edges) < 80]).toEqual([width, true]);
    }
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
    const chosen = [];
    const others = [];
    for (const [one, other] of pairs) {
      chosen.push(await backgroundOf(one));
      others.push(await backgroundOf(other));
    }
    // The highlight of the theme, everywhere the same, and the plain background.
    expect([new Set(chosen).size, new Set(others).size]).toEqual([1, 1]);
    expect(chosen[0]).not.toBe(others[0]);
    for (const [one] of pairs) expect(await contrastOf(one)).toBeGreaterThan(4.5);
  });
});

/** The pixels of an element, each as six hex digits. */
async function pixelsOf(
  element: Locator,
): Promise<{ at: (x: number, y: number) => string; all: string[]; width: number; height: number }> {
  const { data, info } = await sharp(await element.screenshot())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => {
    const start = 3 * (Math.floor(y) * info.width + Math.floor(x));
    return data.subarray(start, start + 3).toString('hex');
  };
  const all = Array.from({ length: info.width * info.height }, (_, index) =>
    at(index % info.width, index / info.width),
  );
  return { at, all, width: info.width, height: info.height };
}

/** The colour of most pixels. */
async function backgroundOf(element: Locator): Promise<string> {
  const counts = new Map<string, number>();
  for (const pixel of (await pixelsOf(element)).all) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}

/** The highest contrast between the background and another pixel (WCAG 2.2). */
async function contrastOf(element: Locator): Promise<number> {
  const background = luminanceOf(await backgroundOf(element));
  const { at, width, height } = await pixelsOf(element);
  let highest = 1;
  // Without the border.
  for (let y = 5; y < height - 5; y += 1) {
    for (let x = 5; x < width - 5; x += 1) {
      const own = luminanceOf(at(x, y));
      highest = Math.max(highest, (Math.max(own, background) + 0.05) / (Math.min(own, background) + 0.05));
    }
  }
  return highest;
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((start) => {
    const value = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
