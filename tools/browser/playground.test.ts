import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countLoaded, factOf, hasBrowser, usePlayground, visitPlayground } from './browser.ts';

/* Lookups, images and the address of the playground. */

const SAMPLE = 'UCPennantSample00000001A';

const used = usePlayground();

describe.skipIf(!hasBrowser)('the first page of the playground', () => {
  test('has the sample channels without a request', async () => {
    const { page, asked } = await visitPlayground(used);
    await expect.poll(() => page.locator('.sample-text').count()).toBe(8);
    const shown = await page.locator('.sample-text').allInnerTexts();
    const samples = readFileSync(new URL('../../samples/channels.ndjson', import.meta.url), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { title: string; customUrl: string });
    expect(shown.toSorted()).toEqual(samples.map(({ title, customUrl }) => `${title}\n${customUrl}`).toSorted());
    await page.locator('footer').scrollIntoViewIfNeeded();
    await expect.poll(() => countLoaded(page, '.sample img')).toBe(15);
    expect(asked).toEqual([]);
  });

  test('has an image, and its URL to copy', async () => {
    const { page } = await visitPlayground(used, '', { permissions: ['clipboard-read', 'clipboard-write'] });
    const url = `${used.service.publicOrigin}/@pennantsample/tv`;
    await expect.poll(() => page.locator('#hero-url').innerText()).toBe(url);
    await expect.poll(() => countLoaded(page, '#hero-image')).toBe(1);
    await page.getByRole('button', { name: 'Copy URL' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(url);
  });

  test('weighs less than 70 KB without its images', async () => {
    const context = await used.browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('.webp')) return;
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(`${used.service.consoleOrigin}/playground/`, { waitUntil: 'networkidle' });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(70_000);
  });
});

describe.skipIf(!hasBrowser)('a lookup', () => {
  test('shows a channel, and requests its record, each image and the badge once', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    await lookUp(' https://www.youtube.com/@PennantSample/videos?x=1 ');
    await expect.poll(() => factOf(page, 'Format')).toBe('AVIF');
    await expect.poll(() => countLoaded(page, '.face img')).toBe(5);
    await expect.poll(() => countLoaded(page, '.device .banner img')).toBe(4);
    await expect.poll(() => countLoaded(page, '#badge img')).toBe(1);
    expect(asked[0]).toBe('/api/channel/PennantSample?type=handle');
    expect(asked.slice(1).toSorted()).toEqual([
      '/@pennantsample/avatar?width=176',
      ...['desktop', 'mobile', 'tablet', 'tv'].map((variant) => `/@pennantsample/${variant}?width=1280`),
      '/api/badge/@pennantsample.svg',
    ]);
    expect(await page.title()).toBe('Pennant Sample · Pennant playground');
    expect(await page.locator('#gallery-heading').isVisible()).toBe(false);
    expect(await page.locator('.channel-names').innerText()).toMatch(/^Pennant Sample\s+@pennantsample$/);
    const record = await page.locator('#record').innerText();
    for (const text of ['1,284,000', '96,340,127', '2014-05-17', 'NL']) expect(record).toContain(text);
    expect(await page.getByRole('link', { name: 'Crop guide' }).getAttribute('href')).toMatch(/^https:/);
    expect(await factOf(page, 'Size')).toBe('1280 × 720');
  });

  test('of another text searches, and the results are links', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    await lookUp('nothing of this kind');
    await expect
      .poll(() => page.locator('search .notice').innerText())
      .toBe('Nothing found for “nothing of this kind”.');
    await lookUp('saltmarrow ki');
    const results = page.locator('.results a');
    await expect.poll(() => results.allInnerTexts()).toEqual([expect.stringMatching(/^Saltmarrow Kitchen\s/)]);
    expect(asked.at(-1)).toBe('/api/search?q=saltmarrow%20ki&limit=8');
    await results.first().click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Saltmarrow Kitchen');
    await page.goBack();
    await expect.poll(() => results.count()).toBe(1);
  });

  test('that fails says why, and offers a retry only if it can help', async () => {
    const { page, lookUp } = await visitPlayground(used, `?channel=${SAMPLE}`);
    const notice = page.locator('search .notice');
    await lookUp('@nobodyhere');
    const sentence = 'There is no channel with the handle "nobodyhere".';
    await expect.poll(() => notice.innerText()).toMatch(`Channel not found. ${sentence} Request `);
    expect(await page.locator('.channel').isVisible()).toBe(false);
    expect(await notice.getByRole('button').count()).toBe(0);
    await page.route('**/api/channel/nightglass*', (route) => route.abort(), { times: 1 });
    await lookUp('@nightglass');
    await expect.poll(() => notice.innerText()).toContain('No response. Is the service running?');
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
  });

  test('that YouTube refuses can be tried again', async () => {
    const { page, lookUp } = await visitPlayground(used);
    const json = { title: 'Source unavailable', detail: 'Wait a little.', requestId: 'a-1' };
    await page.route('**/api/channel/*', (route) => route.fulfill({ status: 503, json }), { times: 1 });
    await lookUp(SAMPLE);
    const notice = page.locator('search .notice');
    await expect.poll(() => notice.innerText()).toContain('Source unavailable. Wait a little. Request a-1.');
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Pennant Sample');
  });
});

describe.skipIf(!hasBrowser)('the image of a channel', () => {
  test('has the chosen variant, format and size, and can be stored', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Format')).toBe('AVIF');
    await page.getByText('WebP', { exact: true }).click();
    await expect.poll(() => factOf(page, 'Format')).toBe('WebP');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Exact width').fill('1e3');
    await page.getByLabel('Exact width').press('Enter');
    await expect.poll(() => factOf(page, 'Size')).toBe('1000 × 563');
    expect(asked.at(-1)).toBe('/@pennantsample/tv.webp?width=1000');
    await page.getByRole('radio', { name: '640' }).check();
    await expect.poll(() => factOf(page, 'Size')).toBe('640 × 360');
    const response = await fetch(await page.locator('#image-url').innerText());
    const kilobytes = Math.round((await response.arrayBuffer()).byteLength / 100) / 10;
    expect(await factOf(page, 'Bytes')).toBe(`${kilobytes} kB`);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe(`${SAMPLE}-tv.webp`);
    await page.getByRole('radio', { name: 'Avatar' }).check();
    await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
    expect(await page.getByRole('group', { name: 'Width' }).innerText()).toMatch(/^Width\s+48\s+96\s+176\s+Original$/);
  });

  test('that fails leaves no former image, and can be loaded again', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 292');
    await page.route('**/*/tablet?*', (route) => route.abort(), { times: 1 });
    await page.getByRole('radio', { name: '640' }).check();
    await expect.poll(() => page.locator('#image .notice').innerText()).toContain('No response.');
    expect([await page.locator('#preview').count(), await page.locator('#facts').count()]).toEqual([0, 0]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('640 × 146');
    expect(await page.getByRole('radio', { name: 'Tablet' }).isChecked()).toBe(true);
  });

  test('is the avatar of a channel without a banner', async () => {
    const { page, lookUp } = await visitPlayground(used);
    await lookUp('@lanternhours');
    await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
    expect(await page.locator('.channel').innerText()).toContain('This channel has no banner.');
    expect(await page.getByRole('radio', { name: 'TV' }).isDisabled()).toBe(true);
    expect(await page.locator('.device .banner img').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('the address of the playground', () => {
  test('contains the whole state, which another browser restores', async () => {
    const { page } = await visitPlayground(used, '', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('link', { name: 'Nightglass' }).click();
    await page.getByRole('radio', { name: 'Tablet' }).check();
    await page.getByText('WebP', { exact: true }).click();
    await page.getByText('More', { exact: true }).click();
    for (const [label, value] of [
      ['Exact width', '700'],
      ['Quality', '40'],
    ] as const) {
      await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByLabel(label, { exact: true }).press('Enter');
    }
    await page.getByRole('radio', { name: 'Videos' }).check();
    await expect.poll(() => factOf(page, 'Size')).toBe('700 × 160');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const query = '?channel=@nightglass&variant=tablet&format=webp&width=700&quality=40&metric=videos';
    expect(link).toBe(`${used.service.consoleOrigin}/playground/${query}`);
    const other = await visitPlayground(used, query);
    await expect.poll(() => factOf(other.page, 'Size')).toBe('700 × 160');
    expect(await factOf(other.page, 'Format')).toBe('WebP');
    expect(await other.page.getByLabel('Quality').inputValue()).toBe('40');
    expect(await other.page.getByRole('radio', { name: 'Videos' }).isChecked()).toBe(true);
  });

  test('changes with Back and Forward', async () => {
    const { page } = await visitPlayground(used);
    await page.getByRole('link', { name: 'Nightglass' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByRole('button', { name: 'Phone', exact: true }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 350');
    await page.goBack();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(await page.getByRole('radio', { name: 'TV' }).isChecked()).toBe(true);
    await page.goBack();
    await expect.poll(() => page.locator('#gallery-heading').isVisible()).toBe(true);
    await expect.poll(() => countLoaded(page, '#hero-image')).toBe(1);
    expect(await page.locator('.channel').isVisible()).toBe(false);
    await page.goForward();
    await page.goForward();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 350');
  });
});
