import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  APPEARANCES,
  type BrowsedService,
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

interface Visit {
  readonly page: Page;
  readonly service: BrowsedService;
  /** Paths asked of the public listener so far. */
  readonly asked: readonly string[];
  lookUp(text: string): Promise<void>;
}

async function visit(env: Record<string, string> = {}, options: BrowserContextOptions = {}): Promise<Visit> {
  const service = await startBrowsedService(env);
  const context = await browser.newContext(options);
  onTestFinished(async () => {
    await context.close();
    await service.close();
  });
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin === service.publicOrigin) asked.push(url.pathname + url.search);
  });
  await page.goto(`${service.consoleOrigin}/playground/`);
  async function lookUp(text: string): Promise<void> {
    await page.getByRole('combobox').fill(text);
    await page.getByRole('button', { name: 'Look up', exact: true }).click();
  }
  return { page, service, asked, lookUp };
}

/** Without the pause in which a fact may still be the last picture's. */
async function factOf(page: Page, label: string): Promise<string> {
  return page.locator(`#facts div:has(dt:text-is("${label}")) dd`).innerText();
}

describe.skipIf(!hasBrowser)('the playground', () => {
  test('shows a channel after one look-up of three requests', async () => {
    const { page, asked, lookUp } = await visit();
    await lookUp('@pennantsample');
    await eventually(() => page.locator('#preview').isVisible()).toBe(true);
    await eventually(() => page.locator('.record img.face').count()).toBe(1);
    expect(asked).toEqual([
      '/api/channel/pennantsample?type=handle',
      `/api/banner/${SAMPLE}?type=tv&width=1280`,
      `/api/banner/${SAMPLE}?type=avatar&width=176`,
    ]);
    expect(await page.locator('.budget-text').innerText()).toMatch(/^7 of 10 left/);
    const record = await page.locator('#record').innerText();
    for (const text of ['Pennant Sample', '@pennantsample', '1,284,000', '96,340,127', 'May 17, 2014', 'Netherlands']) {
      expect(record).toContain(text);
    }
    expect(await page.getByRole('link', { name: 'Crop guide' }).getAttribute('href')).toMatch(/^https:/);
    expect(await page.locator('.device .banner img').count()).toBe(4);
    expect([await factOf(page, 'Size'), await factOf(page, 'Format')]).toEqual(['1280 × 720', 'AVIF']);
  });

  test.each([
    ['a channel ID', SAMPLE],
    ['a name', 'pennantsample'],
    ['a channel page’s URL', 'https://www.youtube.com/@pennantsample/videos'],
    ['a URL without its scheme', `youtube.com/channel/${SAMPLE}`],
  ])('takes %s', async (_what, text) => {
    const { page, lookUp } = await visit();
    await lookUp(text);
    await eventually(() => page.locator('#record-title').innerText()).toBe('Pennant Sample');
  });

  test('searches once typing pauses, and a hit is taken with the keyboard', async () => {
    const { page, asked } = await visit();
    const field = page.getByRole('combobox');
    await field.pressSequentially('saltmarrow k', { delay: 20 });
    await eventually(() => page.getByRole('option').count()).toBeGreaterThan(0);
    expect(asked).toEqual(['/api/search?q=saltmarrow%20k&limit=8']);
    await field.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBe('suggestion-0');
    await field.press('Enter');
    await eventually(() => page.locator('#record-title').innerText()).toBe('Saltmarrow Kitchen');
  });

  test('cuts the other frames from the TV picture until their own is asked for', async () => {
    const { page, asked, lookUp } = await visit();
    await lookUp(SAMPLE);
    const phone = page.getByRole('button', { name: 'Phone', exact: true });
    await eventually(() => phone.locator('.banner img.cut').count()).toBe(1);
    await phone.click();
    await eventually(() => asked.at(-1)).toBe(`/api/banner/${SAMPLE}?type=mobile&width=1280`);
    await eventually(() => phone.locator('.banner img:not(.cut)').count()).toBe(1);
    expect(await phone.getAttribute('aria-pressed')).toBe('true');
    expect(await page.getByRole('radio', { name: 'Phone' }).isChecked()).toBe(true);
  });

  test('requests the chosen format and size, and offers the image as a file', async () => {
    const { page, lookUp } = await visit();
    await lookUp(SAMPLE);
    await eventually(() => factOf(page, 'Format')).toBe('AVIF');
    await page.getByText('WebP', { exact: true }).click();
    await eventually(() => factOf(page, 'Format')).toBe('WebP');
    await page.getByLabel('Width').fill('320');
    await eventually(() => factOf(page, 'Size')).toBe('320 × 180');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe(`${SAMPLE}-tv.webp`);
  });

  test('copies the line that is shown, in every notation', async () => {
    const { page, service, lookUp } = await visit({}, { permissions: ['clipboard-read', 'clipboard-write'] });
    await lookUp(SAMPLE);
    await eventually(() => factOf(page, 'Size')).toBe('1280 × 720');
    const url = `${service.publicOrigin}/api/banner/${SAMPLE}?type=tv&width=1280`;
    const expected: [tab: string, text: string][] = [
      ['URL', url],
      ['<img>', `<img src="${url.replace('&', '&amp;')}" width="1280" height="720" alt="Banner of Pennant Sample"`],
      [
        '<picture>',
        `<source type="image/avif" srcset="${url.replace('&', '&amp;').replace('width', 'format=avif&amp;width')}`,
      ],
      ['Markdown', `![Banner of Pennant Sample](${url})`],
      ['CSS', `background: url("${url}")`],
      ['curl', `curl -fsS -OJ '${url}'`],
      ['fetch', `await fetch("${url}")`],
    ];
    for (const [tab, text] of expected) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await page.locator('#copy').click();
      await eventually(() => page.locator('#copied').innerText()).toBe('Copied');
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
      const simplified =
        tab === '<picture>' ? copied.replace(/width=1280&amp;format=avif/, 'format=avif&amp;width=1280') : copied;
      expect(simplified).toContain(text);
    }
  });

  test('explains a refused request, counts down, and sends it again', async () => {
    const { page, service, lookUp } = await visit({ RATE_LIMIT: '6/3' });
    for (let sent = 0; sent < 6; sent += 1) await fetch(`${service.publicOrigin}/`);
    await lookUp(SAMPLE);
    const notice = page.locator('#notice');
    await eventually(() => notice.innerText()).toContain('Too many requests.');
    const again = notice.getByRole('button');
    expect(await again.innerText()).toMatch(/^Try again in \d s$/);
    expect(await again.isDisabled()).toBe(true);
    await eventually(() => again.isEnabled()).toBe(true);
    await again.click();
    await eventually(() => page.locator('#record-title').count()).toBe(1);
    expect(await notice.innerText()).toBe('');
  });

  test('never spends the last two requests on its own', async () => {
    const { page, asked, service, lookUp } = await visit({ RATE_LIMIT: '5/12' });
    await lookUp(SAMPLE);
    await eventually(() => asked.length).toBe(3);
    await eventually(() => page.locator('.budget-text').innerText()).toMatch(/^2 of 5 left/);
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    const notice = page.locator('#picture-notice');
    await eventually(() => notice.innerText()).toContain('Waiting for budget.');
    expect(asked).toHaveLength(3);
    const left = (await fetch(`${service.publicOrigin}/`)).headers.get('x-ratelimit-remaining');
    expect(left).toBe('1');
    await eventually(() => asked.length).toBe(4);
    expect(await notice.innerText()).toBe('');
  });

  test('spends them when somebody says so', async () => {
    const { page, asked, lookUp } = await visit({ RATE_LIMIT: '5/300' });
    await lookUp(SAMPLE);
    await eventually(() => page.locator('.budget-text').innerText()).toMatch(/^2 of 5 left/);
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    await page.getByRole('button', { name: 'Load now' }).click();
    await eventually(() => asked.at(-1)).toContain('type=tablet');
  });

  test('says what is wrong, and what can be done', async () => {
    const { page, lookUp } = await visit();
    const notice = page.locator('#notice');
    await lookUp('nobodyhere');
    await eventually(() => notice.innerText()).toContain('No such channel.');
    await notice.getByRole('button', { name: 'Search for it' }).click();
    await eventually(() => notice.innerText()).toBe('Nothing found for “nobodyhere”.');
    await page.getByLabel('Instance').fill('http://127.0.0.1:9');
    await page.getByLabel('Instance').press('Enter');
    await lookUp(SAMPLE);
    await eventually(() => notice.innerText()).toContain('The instance cannot be reached from here.');
  });

  test('shows a channel without a banner', async () => {
    const { page, asked, lookUp } = await visit();
    await lookUp('@lanternhours');
    await eventually(() => factOf(page, 'Size')).toMatch(/^\d+ × \d+$/);
    expect(asked).toHaveLength(3);
    expect(await page.getByRole('radio', { name: 'Avatar' }).isChecked()).toBe(true);
    expect(await page.getByRole('button', { name: 'TV', exact: true }).isDisabled()).toBe(true);
    expect(await page.locator('#record .counts').innerText()).toContain('hidden');
  });

  test('weighs less than 100 KB before pictures', async () => {
    const { service } = await visit();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => sizes.push(response.body().then(({ length }) => length)));
    await page.goto(`${service.consoleOrigin}/playground/`, { waitUntil: 'networkidle' });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(100_000);
  });

  test.each(APPEARANCES)('has no fault that axe-core finds: %s', async (_name, options) => {
    const { page, lookUp } = await visit({}, options);
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await lookUp('@nightglass');
    await eventually(() => factOf(page, 'Format')).toBe('AVIF');
    await page.locator('#record summary').click();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByRole('combobox').fill('sample');
    await eventually(() => page.getByRole('option').count()).toBeGreaterThan(0);
    expect(await findAccessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
