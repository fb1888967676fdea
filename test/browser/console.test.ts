import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  APPEARANCES,
  type BrowsedService,
  changeAppearance,
  eventually,
  findAccessibilityFaults,
  hasBrowser,
  launchBrowser,
  scrollsSideways,
  startBrowsedService,
} from '../helpers/browser.ts';

const SAMPLE = 'UCPennantSample00000001A';

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser();
});
afterAll(() => browser?.close());

async function visit(options: BrowserContextOptions = {}): Promise<{ page: Page; service: BrowsedService }> {
  const service = await startBrowsedService();
  const context = await browser.newContext(options);
  onTestFinished(async () => {
    await context.close();
    await service.close();
  });
  const page = await context.newPage();
  await page.goto(`${service.consoleOrigin}/`);
  await eventually(() => page.locator('#status').innerText()).toBe('Healthy');
  return { page, service };
}

function legendOf(page: Page, label: string): Promise<string> {
  return page.locator(`#requests-legend li:has-text("${label}") b`).innerText();
}

describe.skipIf(!hasBrowser)('the console', () => {
  test('updates itself', async () => {
    const { page, service } = await visit();
    expect(await legendOf(page, 'Successful')).toBe('0');
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/channel/${SAMPLE}`);
    await eventually(() => legendOf(page, 'Successful')).toBe('10');
    expect(await legendOf(page, 'Rate limited')).toBe('2');
    await eventually(() => page.locator('#refused').innerText()).toContain('127.0.0.0/24');
    expect(await page.locator('#lookups').innerText()).toMatch(/Records\s+90 % of 10/);
    expect(await page.locator('#latency-legend').innerText()).toMatch(/p50\s*[\d.<]+/);
    await eventually(() => page.locator('#requests-chart rect').count()).toBeGreaterThan(0);
  });

  test('purges a channel and reports it', async () => {
    const { page, service } = await visit();
    const recordUrl = `${service.publicOrigin}/api/channel/${SAMPLE}`;
    await fetch(recordUrl);
    expect((await fetch(recordUrl)).headers.get('cache-status')).toContain('hit');
    await page.getByLabel(/^Channel ID/).fill(SAMPLE);
    await page.getByRole('button', { name: 'Purge' }).click();
    await eventually(() => page.locator('#purge-result').innerText()).toBe(`Purged ${SAMPLE}.`);
    const again = await fetch(`${recordUrl}?cache=past-what-was-just-answered`);
    expect(again.headers.get('cache-status')).toContain('fwd=uri-miss');
    await page.getByLabel(/^Channel ID/).fill('some words');
    await page.getByRole('button', { name: 'Purge' }).click();
    await eventually(() => page.locator('#purge-result').innerText()).toContain('Name a channel ID');
  });

  test('shows the active settings', async () => {
    const { page } = await visit();
    await page.getByText('Settings', { exact: true }).click();
    const row = page.locator('#settings tr', { hasText: 'SOURCES' });
    expect(await row.innerText()).toMatch(/SOURCES\s+catalog/);
  });

  test('reports that the service does not respond', async () => {
    const { page, service } = await visit();
    await page.route(`${service.consoleOrigin}/state.json`, (route) => route.abort());
    await eventually(() => page.locator('#status').innerText()).toContain('No response');
  });

  test('cannot be framed by another page or receive its forms', async () => {
    const { page, service } = await visit();
    const other = await startBrowsedService();
    onTestFinished(() => other.close());
    await page.goto(`${other.publicOrigin}/`);
    await page.setContent(`<iframe src="${service.consoleOrigin}/"></iframe>
      <form method="post" action="${service.consoleOrigin}/purge" enctype="text/plain"><input name="channel" value="${SAMPLE}"></form>`);
    expect(await page.frames()[1]?.locator('#status').count()).toBe(0);
    const [answer] = await Promise.all([page.waitForNavigation(), page.evaluate('document.forms[0].submit()')]);
    expect(answer?.status()).toBeGreaterThanOrEqual(400);
  });

  test('has no accessibility fault that axe-core finds, in every width and colour', async () => {
    const { page, service } = await visit();
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/${SAMPLE}/avatar`);
    await eventually(() => page.locator('#refused table').count()).toBe(1);
    await page.getByText('Settings', { exact: true }).click();
    for (const appearance of APPEARANCES.filter(([width]) => width > 320)) {
      await changeAppearance(page, appearance);
      expect([appearance, await findAccessibilityFaults(page)]).toEqual([appearance, []]);
      expect([appearance, await scrollsSideways(page)]).toEqual([appearance, false]);
    }
  });
});
