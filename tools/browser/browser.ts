import axe, { type AxeResults } from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { startTestApp } from '../../test/helpers/app.ts';
import { createRunningClock } from '../../test/helpers/clock.ts';
import { WAIT } from '../../test/helpers/wait.ts';
import { hasChromium, launchChromium } from './chromium.ts';

/** False: the browser suites are skipped by name. Never in CI, which installs the browser. */
export const hasBrowser = hasChromium || process.env.CI !== undefined;
if (!hasBrowser) console.log('SKIPPED: no chromium on this machine, so the playground and the console are not tested.');

export type BrowsedService = Awaited<ReturnType<typeof startBrowsedService>>;

/** The service with the sample catalog, the default rate limit and the real time, on real ports. */
export async function startBrowsedService(env: Record<string, string> = {}) {
  const settings = { HOST: '127.0.0.1', RATE_LIMIT_OVERRIDES: '', ...env };
  const service = await startTestApp({ clock: createRunningClock(), env: settings });
  return {
    ...service,
    /** Of the public listener, without a slash at the end. */
    publicOrigin: `http://localhost:${await service.listen()}`,
    consoleOrigin: `http://localhost:${await service.listen(service.app.console)}`,
  };
}

/** A browser for all tests of the file. Its property is set when the tests begin, if there is a browser. */
export function useBrowser(): { readonly browser: Browser } {
  const used = {} as { browser: Browser };
  beforeAll(async () => {
    if (hasBrowser) used.browser = await launchChromium();
  });
  afterAll(() => used.browser?.close());
  return used;
}

/** Shows the page as it is now in every width. */
async function inEveryWidth(page: Page, check: (width: number) => Promise<void>): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const width of [1440, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await check(width);
  }
}

/**
 * The light page gets every rule, with the least size of a target (WCAG 2.2, 2.5.8), which axe-core leaves out otherwise.
 * The dark page differs from it in colours only.
 */
const AXE_OPTIONS = {
  light: { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } },
  dark: { resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block'] },
};

/** In every width and colour scheme, the page is not wider than the window, and axe-core finds no problem. */
export async function expectSound(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  await inEveryWidth(page, async (width) => {
    const isWider = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expect([width, isWider]).toEqual([width, false]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const run = `axe.run(${JSON.stringify(AXE_OPTIONS[colorScheme])}).then(({ violations }) => violations)`;
      const violations = (await page.evaluate(run)) as AxeResults['violations'];
      const faults = violations.map(({ id, help, nodes }) => [id, help, nodes.map(({ html }) => html)]);
      expect([width, colorScheme, faults]).toEqual([width, colorScheme, []]);
    }
  });
}

/** A browser, and a service with a large budget, for all tests of the file. Set when the tests begin. */
export function usePlayground() {
  const used = useBrowser() as { browser: Browser; service: BrowsedService };
  beforeAll(async () => {
    if (!hasBrowser) return;
    used.service = await startBrowsedService({ RATE_LIMIT: '2000/30' });
    // The first image waits for the start of an encoder, which may take longer than a request on a busy machine.
    const image = `${used.service.publicOrigin}/UCPennantSample00000001A/avatar.png`;
    await vi.waitFor(async () => expect((await fetch(image)).status).toBe(200), WAIT);
  });
  afterAll(() => used.service?.close());
  return used;
}

/** Opens the playground in a new browser context. The test fails if the page throws or logs an error. */
export async function visitPlayground(
  { browser, service }: ReturnType<typeof usePlayground>,
  query = '',
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  onTestFinished(async () => {
    // A response that a route still fetches is not awaited.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    expect(faults).toEqual([]);
  });
  /** Paths requested from the service so far. */
  const asked: string[] = [];
  page.on('request', (request) => {
    const [, path] = request.url().split('/playground/instance');
    if (path !== undefined) asked.push(path);
  });
  await page.goto(`${service.consoleOrigin}/playground/${query}`);
  async function lookUp(text: string): Promise<void> {
    await page.getByLabel('Look up a channel').fill(text);
    await page.getByLabel('Look up a channel').press('Enter');
  }
  return { page, asked: asked as readonly string[], lookUp };
}

/** Of the images on the page that match. Waits for none. */
export function countLoaded(page: Page, selector: string): Promise<number> {
  return page
    .locator(selector)
    .evaluateAll(
      (images) =>
        (images as unknown as { complete: boolean; naturalWidth: number }[]).filter(
          ({ complete, naturalWidth }) => complete && naturalWidth > 0,
        ).length,
    );
}

/** A fact of the image. Does not wait. */
export async function factOf(page: Page, label: string): Promise<string> {
  const [value = ''] = await page.locator(`#facts div:has(dt:text-is("${label}")) dd`).allInnerTexts();
  return value;
}

/** The page gets every record with these changes. */
export async function changeRecords(page: Page, changes: Record<string, unknown>): Promise<void> {
  await page.route('**/api/channel/*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...changes } });
  });
}
