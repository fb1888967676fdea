import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestApp, type TestApp } from './app.ts';
import { createRunningClock } from './clock.ts';
import { listenOnLoopback } from './in-process.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

/** False: the browser suites are skipped by name. Never in CI, which installs the browser. */
export const hasBrowser = CHROMIUM !== undefined || process.env.CI !== undefined;
if (!hasBrowser) console.log('SKIPPED: no chromium on this machine, so the playground and the console are not tested.');

async function launchBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('There is no chromium: apt-get install chromium');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface BrowsedService extends TestApp {
  /** Of the public listener, without a slash at the end. */
  readonly publicOrigin: string;
  readonly consoleOrigin: string;
}

/** The service with the sample catalog, the default rate limit and the real time, on real ports. */
export async function startBrowsedService(env: Record<string, string> = {}): Promise<BrowsedService> {
  const settings = { HOST: '127.0.0.1', RATE_LIMIT_OVERRIDES: '', ...env };
  const service = await startTestApp({ clock: createRunningClock(), env: settings });
  return {
    ...service,
    publicOrigin: `http://localhost:${await service.listen()}`,
    consoleOrigin: `http://localhost:${await listenOnLoopback(service.app.console)}`,
  };
}

/** A browser for all tests of the file. Its property is set when the tests begin, if there is a browser. */
export function useBrowser(): { readonly browser: Browser } {
  const used = {} as { browser: Browser };
  beforeAll(async () => {
    if (hasBrowser) used.browser = await launchBrowser();
  });
  afterAll(() => used.browser?.close());
  return used;
}

/** Waits until a page shows something. A busy machine needs a while. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 100 });
}

/** Widths and colour schemes in which the pages are checked. */
export const APPEARANCES: readonly (readonly [width: number, colorScheme: 'light' | 'dark'])[] = [
  [1440, 'light'],
  [820, 'dark'],
  [390, 'light'],
  [320, 'dark'],
  [320, 'light'],
  [390, 'dark'],
  [820, 'light'],
  [1440, 'dark'],
];

/** Shows the page as it is now in another width and colour. */
export async function changeAppearance(page: Page, [width, colorScheme]: (typeof APPEARANCES)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
}

/** The problems that axe-core finds in the current page, one line for each rule. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; help: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

/** Whether the page is wider than the window. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )) as boolean;
}
