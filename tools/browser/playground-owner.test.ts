import { describe, expect, onTestFinished, test } from 'vitest';
import { factOf, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* The playground on the private listener: its requests are the operator's. */

const used = useBrowser();

async function visit(env: Record<string, string> = {}) {
  const service = await startBrowsedService(env);
  const context = await used.browser.newContext({ viewport: { width: 1280, height: 900 } });
  onTestFinished(async () => {
    await context.close();
    await service.close();
  });
  const page = await context.newPage();
  const outside: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(service.consoleOrigin) && request.url().startsWith('http'))
      outside.push(request.url());
  });
  await page.goto(`${service.consoleOrigin}/playground/`);
  return { page, service, outside };
}

describe.skipIf(!hasBrowser)('the playground of the operator', () => {
  test('never waits for the rate limit', async () => {
    const { page, outside } = await visit({ RATE_LIMIT: '2/300' });
    await page.getByRole('link', { name: 'Pennant Sample' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    for (const [variant, size] of [
      ['Desktop', '1280 × 212'],
      ['Tablet', '1280 × 292'],
      ['Phone', '1280 × 350'],
      ['Avatar', '176 × 176'],
    ] as const) {
      await page.locator('#variants').getByText(variant, { exact: true }).click();
      await expect.poll(() => factOf(page, 'Size')).toBe(size);
    }
    await page.locator('#home').click();
    await page.getByRole('link', { name: 'Nightglass' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    await expect.poll(() => page.locator('.device .banner img:not(.placeholder)').count()).toBe(4);
    expect(outside).toEqual([]);
  });

  test('works with the address of a proxy that is not there yet, and shows that address', async () => {
    const { page, outside } = await visit({ BASE_URL: 'https://img.pennant.example' });
    const url = page.getByLabel('Change the URL of this image');
    await expect.poll(() => url.inputValue()).toBe('https://img.pennant.example/@pennantsample/tv');
    await page.getByRole('link', { name: 'Pennant Sample' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(await page.locator('#image-url').innerText()).toBe(
      'https://img.pennant.example/@pennantsample/tv?width=1280',
    );
    expect(outside).toEqual([]);
  });

  test('passes nothing on for a page of another origin', async () => {
    const { page, service } = await visit();
    const url = `${service.consoleOrigin}/playground/instance/api/channel/pennantsample?type=handle`;
    const headers = { 'x-pennant-console': 'playground' };
    const send = `fetch(${JSON.stringify(url)}, ${JSON.stringify({ headers })}).then(({ status }) => status, ({ name }) => name)`;
    expect(await page.evaluate(send)).toBe(200);
    await page.goto(`${service.publicOrigin}/`);
    expect(await page.evaluate(send)).toBe('TypeError');
    const image = `new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve('loaded');
      image.onerror = () => resolve('refused');
      image.src = ${JSON.stringify(`${service.consoleOrigin}/playground/instance/@pennantsample/avatar`)};
    })`;
    expect(await page.evaluate(image)).toBe('refused');
  });
});
