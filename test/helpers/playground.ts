import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { type BrowsedService, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

const SAMPLE = 'UCPennantSample00000001A';

interface VisitedService {
  readonly browser: Browser;
  readonly service: BrowsedService;
}

/** A browser, and a service with a large budget, for all tests of the file. Set when the tests begin. */
export function usePlayground(): VisitedService {
  const used = useBrowser() as { browser: Browser; service: BrowsedService };
  beforeAll(async () => {
    if (!hasBrowser) return;
    used.service = await startBrowsedService({ RATE_LIMIT: '2000/30' });
    // It imports the samples into an empty catalog only, so they come before what a test may import.
    expect((await fetch(`${used.service.publicOrigin}/api/channel/${SAMPLE}`)).status).toBe(200);
  });
  afterAll(() => used.service?.close());
  return used;
}

/** Opens the playground in a new browser context. The test fails if the page throws or logs an error. */
export async function visitPlayground(
  { browser, service }: VisitedService,
  query = '',
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  /** Paths requested from the public listener so far. */
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = URL.parse(request.url());
    if (url?.origin === service.publicOrigin) asked.push(url.pathname + url.search);
  });
  await page.goto(`${service.consoleOrigin}/playground/${query}`);
  async function lookUp(text: string): Promise<void> {
    await page.getByRole('combobox').fill(text);
    await page.getByRole('button', { name: 'Look up', exact: true }).click();
  }
  return { page, asked: asked as readonly string[], lookUp };
}

/** A fact of the picture. Does not wait. */
export async function factOf(page: Page, label: string): Promise<string> {
  const [value = ''] = await page.locator(`#facts div:has(dt:text-is("${label}")) dd`).allInnerTexts();
  return value;
}
