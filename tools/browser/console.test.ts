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
  return page.locator(`#requests-legend li:has-text("${label}") b`).innerText();
}

describe.skipIf(!hasBrowser)('the console', () => {
  test('updates itself', async () => {
    const { page, service } = await visit(await startUnused());
    expect(await legendOf(page, 'Successful')).toBe('0');
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/${SAMPLE}/avatar.webp?width=48`);
    await expect.poll(() => legendOf(page, 'Successful')).toBe('10');
    expect(await legendOf(page, 'Rate limited')).toBe('2');
    await expect.poll(() => page.locator('#refused').innerText()).toContain('127.0.0.0/24');
    expect(await page.locator('#lookups').innerText()).toMatch(/Images\s+90 % of 10/);
    expect(await page.locator('#latency-legend').innerText()).toMatch(/p50\s*[\d.<]+/);
    await expect.poll(() => page.locator('#requests-chart rect').count()).toBeGreaterThan(0);
  });

  test('purges a channel and reports it', async () => {
    const { page, service } = await visit();
    const imageUrl = `${service.publicOrigin}/${SAMPLE}/avatar.webp?width=48`;
    await fetch(imageUrl);
    expect((await fetch(imageUrl)).headers.get('cache-status')).toContain('hit');
    await page.getByLabel(/^Channel ID/).fill(SAMPLE);
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => page.locator('#purge-result').innerText()).toBe(`Purged ${SAMPLE}.`);
    const again = await fetch(`${imageUrl}&cache=past-what-was-just-responded`);
    expect(again.headers.get('cache-status')).toContain('fwd=uri-miss');
    await page.getByLabel(/^Channel ID/).fill('some words');
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect.poll(() => page.locator('#purge-result').innerText()).toContain('Name a channel ID');
  });

  test('shows what is more than 70 % full at once, and folds the rest', async () => {
    const { page, service } = await visit();
    expect(await page.locator('#full-stores').innerText()).toBe('None is more than 70 % full.');
    expect(await page.getByText('encoder queue').isVisible()).toBe(false);
    await page.getByText('All others').click();
    expect(await page.getByText('encoder queue').isVisible()).toBe(true);
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.stores = state.stores.map((store: { name: string }) =>
        store.name === 'encoder queue' ? { ...store, entries: 60, maxEntries: 64 } : store,
      );
      await route.fulfill({ response, json: state });
    });
    await expect.poll(() => page.locator('#full-stores').innerText()).toMatch(/^encoder queue\s+60 of 64$/);
    expect(await page.locator('#other-stores', { hasText: 'encoder queue' }).count()).toBe(0);
    // A poll leaves it open.
    expect(await page.getByText('micro-cache').isVisible()).toBe(true);
  });

  test('shows the active settings', async () => {
    const { page } = await visit();
    await page.getByText('Settings', { exact: true }).click();
    const row = page.locator('#settings tr', { hasText: 'SOURCES' });
    expect(await row.innerText()).toMatch(/SOURCES\s+catalog/);
  });

  test('labels the axes of its charts', async () => {
    const { page, service } = await visit(await startUnused());
    for (let sent = 0; sent < 8; sent += 1) await fetch(`${service.publicOrigin}/channel/${SAMPLE}`);
    await expect.poll(() => page.locator('#requests-chart .axis').innerText()).toBe('8\n4\n0');
    expect(await page.locator('#requests-chart .unit').innerText()).toBe('requests in 10 s');
    expect(await page.locator('#latency-chart .axis').innerText()).toMatch(/^10 s\n1 s\n.*\n0\.1 ms$/s);
    for (const chart of ['requests', 'latency', 'encoder']) {
      expect(await page.locator(`#${chart}-chart .scale`).innerText()).toMatch(/^15 min ago\s+10\s+5\s+now$/);
    }
  });

  test('keeps its columns when an upstream fails in several ways', async () => {
    const { page, service } = await visit();
    const outcomes = { found: 1234, upstream_timeout: 12, upstream_unavailable: 3, upstream_invalid: 1 };
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.recent.sources['image hosts'] = outcomes;
      await route.fulfill({ response, json: state });
    });
    const row = page.locator('#sources tr', { hasText: 'image hosts' });
    await expect.poll(() => row.innerText()).toMatch(/image hosts\s+ready\s+1,250\s+16/);
    await expect
      .poll(() => page.locator('#sources .detail').innerText())
      .toBe('12 upstream_timeout, 3 upstream_unavailable, 1 upstream_invalid');
    // In one step, because the page replaces the table every two seconds.
    const heights = await row
      .locator('td')
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
    expect(heights).toHaveLength(4);
    for (const height of heights) expect(height).toBeLessThan(45);
  });

  test('says what to do about a problem, with a link into the guide, and lists the latest failures', async () => {
    const { page, service } = await visit();
    const failure = { status: 503, code: 'upstream_unavailable', reason: 'YouTube is paused', count: 132 };
    const times = { firstAtMs: Date.UTC(2026, 10, 24, 12, 3), lastAtMs: Date.UTC(2026, 10, 24, 12, 4, 5) };
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      state.conditions = [{ name: 'redis', detail: 'not used (connect ECONNREFUSED)', isBlocking: false }];
      state.failures = [{ ...failure, ...times, requestId: 'q3T1xKZ0fUvB-7', path: '/@nobody/tv' }];
      await route.fulfill({ response, json: state });
    });
    await expect.poll(() => page.locator('#status').innerText()).toBe('Degraded: 1 problem');
    const problem = page.locator('#conditions p');
    expect(await problem.innerText()).toMatch(
      /^redis: not used \(connect ECONNREFUSED\)\. Check the Redis server .*Guide$/,
    );
    const failures = await page.locator('#failures').innerText();
    expect(failures).toMatch(/2026-11-24 12:04:05\s+503 upstream_unavailable\s+132/);
    expect(failures).toContain(
      'YouTube is paused. First at 2026-11-24 12:03:00. Latest request: q3T1xKZ0fUvB-7, /@nobody/tv',
    );
    await expectSound(page);
    await problem.getByText('Guide').click();
    await page.waitForURL(/\/guide\/operating\.html#when-redis-fails$/);
    expect(await page.locator('#when-redis-fails').innerText()).toBe('When Redis fails');
    await page.getByText('Console', { exact: true }).click();
    await expect.poll(() => page.locator('#status').innerText()).toContain('Degraded');
  });

  test('shows which sources are ready, paused or unreachable, and which of their calls are paused', async () => {
    const { page, service } = await visit();
    const problem = (name: string) => ({ name, reason: 'refused', description: `${name} refuses this address` });
    const sources = [
      { name: 'catalog', state: 'ready', problems: [] },
      { name: 'youtube', state: 'ready', problems: [problem('youtube searches'), problem('youtube feeds')] },
      { name: 'youtube-data-api', state: 'paused', problems: [problem('youtube-data-api')] },
      { name: 'image hosts', state: 'unreachable', problems: [problem('image hosts')] },
    ];
    await page.route(`${service.consoleOrigin}/state.json`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), sources } });
    });
    const states = () => page.locator('#sources tbody td:nth-child(2)').allInnerTexts();
    await expect.poll(states).toEqual(['ready', 'ready, searches paused, feeds paused', 'paused', 'unreachable']);
    expect(await page.locator('#sources .dot').count()).toBe(4);
    expect(await page.locator('#sources .dot.trouble').count()).toBe(3);
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
    await expect.poll(() => page.locator('#refused table').count()).toBe(1);
    await page.getByText('Settings', { exact: true }).click();
    await expectSound(page);
  });
});
