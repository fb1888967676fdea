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
    await expect.poll(() => page.locator('form.purge [role=status]').innerText()).toBe(`Purged ${SAMPLE}.`);
    const again = await fetch(`${imageUrl}&cache=past-what-was-just-responded`);
    expect(again.headers.get('cache-status')).toContain('fwd=uri-miss');
    await page.getByLabel(/^Channel ID/).fill('some words');
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => page.locator('form.purge [role=status]').innerText()).toContain('Name a channel ID');
  });

  test('shows the active settings', async () => {
    const { page } = await visit();
    await page.getByText('Settings', { exact: true }).click();
    const row = page.locator('details tr', { hasText: 'SOURCES' });
    expect(await row.innerText()).toMatch(/SOURCES\s+catalog/);
  });

  test('shows in which ways an upstream fails', async () => {
    const { page, service } = await visit();
    const outcomes = { found: 1234, upstream_timeout: 12, upstream_unavailable: 3, upstream_invalid: 1 };
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.totals.sources['image hosts'] = outcomes;
      await route.fulfill({ response, json: state });
    });
    const row = page.locator('#sources tr', { hasText: 'image hosts' });
    await expect.poll(() => row.innerText()).toMatch(/image hosts\s+ready\s+1,250\s+16/);
    await expect
      .poll(() => page.locator('#sources .detail').innerText())
      .toBe('12 upstream_timeout, 3 upstream_unavailable, 1 upstream_invalid');
  });

  test('says what to do about a problem, with a link into the guide', async () => {
    const { page, service } = await visit();
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.conditions = [{ name: 'redis', detail: 'not used (connect ECONNREFUSED)', isBlocking: false }];
      await route.fulfill({ response, json: state });
    });
    await expect.poll(() => page.locator('#status').innerText()).toBe('Degraded: 1 problem');
    const problem = page.locator('#conditions p');
    expect(await problem.innerText()).toMatch(
      /^redis: not used \(connect ECONNREFUSED\)\. Check the Redis server .*Guide$/,
    );
    await expectSound(page);
    await problem.getByText('Guide').click();
    await page.waitForURL(/\/guide\/operating\.html#when-redis-fails$/);
    expect(await page.locator('#when-redis-fails').innerText()).toBe('When Redis fails');
    await page.getByText('Console', { exact: true }).click();
    await expect.poll(() => page.locator('#status').innerText()).toContain('Degraded');
  });

  test('shows which breakers of sources are open', async () => {
    const { page, service } = await visit();
    const problem = (name: string) => ({ name, reason: 'refused', description: `${name} refuses this address` });
    const sources = [
      { name: 'catalog', state: 'ready', problems: [] },
      { name: 'youtube', state: 'ready', problems: [problem('youtube searches'), problem('youtube feeds')] },
      { name: 'youtube-data-api', state: 'breaker open', problems: [problem('youtube-data-api')] },
    ];
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), sources } });
    });
    const states = () => page.locator('#sources tbody td:nth-child(2)').allInnerTexts();
    await expect.poll(states).toEqual(['ready', 'ready, searches: breaker open, feeds: breaker open', 'breaker open']);
    expect(await page.locator('#sources .dot').count()).toBe(3);
    expect(await page.locator('#sources .dot.trouble').count()).toBe(2);
  });

  test('reports that the service does not respond', async () => {
    const { page, service } = await visit();
    await page.route(`${service.consoleOrigin}/state.json`, (route) => route.abort());
    await expect.poll(() => page.locator('#status').innerText()).toContain('No response');
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
    await page.getByText('Settings', { exact: true }).click();
    await expectSound(page);
  });
});
