import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BrowsedService, expectSound, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

const SAMPLE = 'UCPennantSample00000001A';

const used = useBrowser();

/** For tests that count no requests. */
let shared: BrowsedService;
beforeAll(async () => {
  if (hasBrowser) shared = await startBrowsedService();
});
afterAll(() => shared?.close());

/** A service without a request so far. */
async function startUnused(): Promise<BrowsedService> {
  const service = await startBrowsedService();
  onTestFinished(() => service.close());
  return service;
}

async function visit(service = shared): Promise<{ page: Page; service: BrowsedService }> {
  const context = await used.browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${service.consoleOrigin}/`);
  await expect.poll(() => page.locator('#status').innerText()).toBe('Healthy');
  return { page, service };
}

function legendOf(page: Page, label: string): Promise<string> {
  return page.locator(`#requests .legend li:has-text("${label}") b`).innerText();
}

describe.skipIf(!hasBrowser)('the console', () => {
  test('draws what it has polled since it was opened', async () => {
    const { page, service } = await visit(await startUnused());
    expect(await legendOf(page, 'Successful')).toBe('0');
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/${SAMPLE}/avatar.webp?width=48`);
    await expect.poll(() => legendOf(page, 'Rate limited')).toBe('2');
    expect(await legendOf(page, 'Successful')).toBe('10');
    expect(await page.locator('#lookups').innerText()).toMatch(/Images\s+90 % of 10/);
    expect(await page.locator('#latency .legend').innerText()).toMatch(/p50\s*[\d.<]+/);
    expect(await page.locator('#requests rect').count()).toBeGreaterThan(0);
  });

  test('purges a channel and reports it', async () => {
    const { page, service } = await visit();
    const imageUrl = `${service.publicOrigin}/${SAMPLE}/avatar.webp?width=48`;
    await fetch(imageUrl);
    expect((await fetch(imageUrl)).headers.get('cache-status')).toContain('hit');
    await page.getByLabel(/^Channel ID/).fill(SAMPLE);
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => page.locator('#purge [role=status]').innerText()).toBe(`Purged ${SAMPLE}.`);
    const again = await fetch(`${imageUrl}&cache=past-what-was-just-responded`);
    expect(again.headers.get('cache-status')).toContain('fwd=uri-miss');
    await page.getByLabel(/^Channel ID/).fill('some words');
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => page.locator('#purge [role=status]').innerText()).toContain('Name a channel ID');
  });

  test('says what to do about a problem, with a link into the guide', async () => {
    const { page, service } = await visit();
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.conditions = [{ name: 'redis', detail: 'not used (connect ECONNREFUSED)' }];
      state.totals.sources['image hosts'] = { found: 1234, upstream_timeout: 12, upstream_invalid: 1 };
      const problems = [{ name: 'youtube searches', reason: 'refused', description: 'YouTube refuses this address' }];
      state.sources.push({ name: 'youtube', state: 'ready', problems });
      await route.fulfill({ response, json: state });
    });
    await expect.poll(() => page.locator('#status').innerText()).toBe('Degraded: 1 problem');
    const problem = page.locator('#conditions p');
    expect(await problem.innerText()).toMatch(
      /^redis: not used \(connect ECONNREFUSED\)\. Check the Redis server .*Guide$/,
    );
    expect(await page.locator('#sources').innerText()).toContain('searches: breaker open');
    expect(await page.locator('#sources .detail').innerText()).toBe('12 upstream_timeout, 1 upstream_invalid');
    await expectSound(page);
    await problem.getByText('Guide').click();
    await page.waitForURL(/\/guide\/operating\.html#when-redis-fails$/);
    expect(await page.locator('#when-redis-fails').innerText()).toBe('When Redis fails');
    await page.getByText('Console', { exact: true }).click();
    await expect.poll(() => page.locator('#status').innerText()).toContain('Degraded');
  });

  test('cannot be framed by another page or receive its forms', async () => {
    const { page, service } = await visit();
    await page.goto(`${service.publicOrigin}/`);
    await page.setContent(`<iframe src="${service.consoleOrigin}/"></iframe>
      <form method="post" action="${service.consoleOrigin}/purge" enctype="text/plain"><input name="channel" value="${SAMPLE}"></form>`);
    expect(await page.frames()[1]?.locator('#status').count()).toBe(0);
    const [response] = await Promise.all([page.waitForNavigation(), page.evaluate('document.forms[0].submit()')]);
    expect(response?.status()).toBeGreaterThanOrEqual(400);
  });

  test('has no accessibility problem that axe-core finds, in any width and colour scheme', async () => {
    const { page, service } = await visit();
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/${SAMPLE}/avatar`);
    await expect.poll(() => page.locator('#requests rect').count()).toBeGreaterThan(0);
    await expectSound(page);
  });
});
