import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { BrowsedService } from './browser.ts';

export interface PlaygroundVisit {
  readonly page: Page;
  /** Paths requested from the public listener so far. */
  readonly asked: readonly string[];
  lookUp(text: string): Promise<void>;
}

/** Opens the playground in a context of its own. The test fails if the page throws or logs an error of its own. */
export async function visitPlayground(
  browser: Browser,
  service: BrowsedService,
  query = '',
  options: BrowserContextOptions = {},
): Promise<PlaygroundVisit> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
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
  return { page, asked, lookUp };
}

/** A fact of the picture. Does not wait. */
export async function factOf(page: Page, label: string): Promise<string> {
  const [value = ''] = await page.locator(`#facts div:has(dt:text-is("${label}")) dd`).allInnerTexts();
  return value;
}
