import { expect, onTestFinished, test } from 'vitest';
import { findNginx } from '../../test/helpers/front.ts';
import { SUB_PATH_SETTINGS, useNginxBelowPath } from '../../test/helpers/proxies.ts';
import { countLoaded, factOf, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* The pages of the private listener below a path, behind an nginx that is configured as in docs/proxies.md. */

const used = useBrowser();

test.skipIf(!hasBrowser || !findNginx())('the playground, the console and the guide work below a path', async () => {
  const service = await startBrowsedService(SUB_PATH_SETTINGS);
  onTestFinished(service.close);
  const portOf = (origin: string) => Number(new URL(origin).port);
  const frontPort = await useNginxBelowPath({
    port: portOf(service.publicOrigin),
    consolePort: portOf(service.consoleOrigin),
  });
  const httpCredentials = { username: 'operator', password: 'secret' };
  const context = await used.browser.newContext({ httpCredentials, viewport: { width: 1280, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('response', (response) => {
    if (response.status() >= 400 && response.status() !== 401) faults.push(`${response.status()} ${response.url()}`);
  });
  const pages = `http://localhost:${frontPort}/pennant-console`;

  // Without the slash at its end, the address of the playground is redirected.
  await page.goto(`${pages}/playground`);
  expect(page.url()).toBe(`${pages}/playground/`);
  await expect.poll(() => page.locator('#hero-url').innerText()).toBe('https://example.org/pennant/@pennantsample/tv');
  await expect.poll(() => countLoaded(page, '#hero-image')).toBe(1);
  await page.getByLabel('Look up a channel').fill('@nightglass');
  await page.getByLabel('Look up a channel').press('Enter');
  await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
  await expect.poll(() => countLoaded(page, '#badge img')).toBe(1);
  expect(await page.locator('#image-url').innerText()).toBe('https://example.org/pennant/@nightglass/tv?width=1280');
  for (const snippet of await page.locator('.snippets pre').allInnerTexts()) {
    expect(snippet).toContain('https://example.org/pennant/');
    expect(snippet).not.toMatch(/example\.org\/(?!pennant\/)|pennant\/pennant/);
  }

  await page.getByRole('link', { name: 'API', exact: true }).first().click();
  await expect.poll(() => page.url()).toBe(`${pages}/playground/api.html`);
  await page.goto(`${pages}/`);
  await page.getByRole('link', { name: 'Guide', exact: true }).first().click();
  await expect.poll(() => page.url()).toContain(`${pages}/guide/`);
  expect(faults).toEqual([]);
});
