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

/** A service without a request so far. Its rate limit lasts longer than any test. */
async function startUnused(): Promise<BrowsedService> {
  const service = await startBrowsedService({ RATE_LIMIT: '10/3600' });
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
  test('shows at once what happened before it was opened, and draws what happens since', async () => {
    const unused = await startUnused();
    const ask = () => fetch(`${unused.publicOrigin}/${SAMPLE}/avatar.webp?width=48`);
    for (let sent = 0; sent < 9; sent += 1) await ask();
    const { page } = await visit(unused);
    expect(await legendOf(page, 'Successful')).toBe('9');
    expect(await page.locator('#lookups').innerText()).toMatch(/Images\s+89 % of 9/);
    expect(await page.locator('#latency .legend').innerText()).toMatch(/p50\s*[\d.<]+/);
    expect(await page.locator('#encoders .facts').innerText()).toMatch(/Encoded\s+1/);
    expect(await page.locator('#requests rect').count()).toBe(0);
    for (let sent = 0; sent < 3; sent += 1) await ask();
    await expect.poll(() => legendOf(page, 'Rate limited')).toBe('2');
    expect(await page.locator('#requests rect').count()).toBeGreaterThan(0);
    expect(await page.locator('#requests .unit').innerText()).toMatch(/^Since you opened this page/);

    // After a restart, the counters begin again, and the charts go on.
    const drawn = await page.locator('#requests rect').count();
    await page.route('**/state.json', async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      const requests = { ...state.totals.requests, responded: 4, refused: 0 };
      await route.fulfill({ response, json: { ...state, startedAtMs: 1, totals: { ...state.totals, requests } } });
    });
    await expect.poll(() => legendOf(page, 'Successful')).toBe('4');
    expect(await page.locator('#requests rect').count()).toBeGreaterThan(drawn);
    expect(await page.locator('#requests rect.responded').last().getAttribute('height')).not.toContain('-');
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
      const unreachable = { detail: 'YouTube fails every call', cause: 'unreachable' };
      state.conditions = [
        { name: 'redis', detail: 'not used (connect ECONNREFUSED)' },
        { name: 'source youtube', ...unreachable },
        { name: 'image hosts', ...unreachable },
      ];
      state.totals.sources['image hosts'] = { found: 1234, upstream_timeout: 12, upstream_invalid: 1 };
      const conditions = [{ name: 'youtube' }, { name: 'youtube searches' }];
      state.sources.push({ name: 'youtube', conditions });
      await route.fulfill({ response, json: state });
    });
    await expect.poll(() => page.locator('#status').innerText()).toBe('Degraded: 3 conditions');
    const [redis, youtube] = await page.locator('#conditions div').allInnerTexts();
    expect(redis).toMatch(/^redis: not used \(connect ECONNREFUSED\)\.\s+What to do: Check the Redis server .*Guide$/);
    expect(youtube).toMatch(
      /^source youtube: .*\s+image hosts: .*\s+What to do: This machine cannot reach YouTube.*Guide$/,
    );
    expect(await page.locator('#sources').innerText()).toContain('breaker open: records, searches');
    expect(await page.locator('#sources').innerText()).toContain(': 12 upstream_timeout, 1 upstream_invalid.');
    await expectSound(page);
    await page.locator('#conditions div').first().getByText('Guide').click();
    await page.waitForURL(/\/guide\/operating\.html#when-redis-fails$/);
    expect(await page.locator('#when-redis-fails').innerText()).toBe('When Redis fails');
    await page.getByText('Console', { exact: true }).click();
    await expect.poll(() => page.locator('#status').innerText()).toContain('Degraded');
  });

  test('has no accessibility problem that axe-core finds, in any width and colour scheme', async () => {
    const { page, service } = await visit();
    for (let sent = 0; sent < 12; sent += 1) await fetch(`${service.publicOrigin}/${SAMPLE}/avatar`);
    await expect.poll(() => page.locator('#requests rect').count()).toBeGreaterThan(0);
    await expectSound(page);
  });
});
