import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { countLoaded, factOf, hasBrowser, usePlayground, visitPlayground } from './browser.ts';

/* Lookups, results and downloads in the playground. */

const SAMPLE = 'UCPennantSample00000001A';

const used = usePlayground();

describe.skipIf(!hasBrowser)('the playground', () => {
  test('starts with the sample channels without a request', async () => {
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

  test('has a URL on its first screen that can be changed and copied, with its image', async () => {
    const { page, asked } = await visitPlayground(used, '', { permissions: ['clipboard-read', 'clipboard-write'] });
    const field = page.getByLabel('Change the URL of this image');
    const image = page.locator('#hero-image');
    await expect.poll(() => field.inputValue()).toBe(`${used.service.publicOrigin}/@pennantsample/tv`);
    await expect.poll(() => countLoaded(page, '#hero-image')).toBe(1);
    expect(asked).toEqual([]);
    const changed = `${used.service.publicOrigin}/@nightglass/avatar?width=48`;
    await field.fill(changed);
    await expect.poll(() => image.evaluate(widthOf)).toBe(48);
    expect(asked).toEqual(['/@nightglass/avatar?width=48']);
    await page.getByRole('button', { name: 'Copy URL' }).first().click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(changed);
    for (const [url, sentence] of [
      [`${used.service.publicOrigin}/@nobodyhere/tv`, 'Channel not found.'],
      [`${used.service.publicOrigin}/api/channel/${SAMPLE}`, 'Not an image.'],
      ['https://elsewhere.example/@nightglass/tv', 'Enter a URL that begins with'],
    ] as const) {
      await field.fill(url);
      await expect.poll(() => page.locator('#hero-notice').innerText()).toContain(sentence);
      expect(await image.isVisible()).toBe(false);
    }
    expect(asked.filter((path) => path.includes('elsewhere'))).toEqual([]);
  });

  test('shows a sample channel after three requests', async () => {
    const { page, asked } = await visitPlayground(used);
    await page.getByRole('link', { name: 'Pennant Sample' }).click();
    await expect.poll(() => page.locator('#preview').isVisible()).toBe(true);
    await expect.poll(() => page.locator('#channel-face img').count()).toBe(1);
    expect(asked[0]).toBe('/api/channel/pennantsample?type=handle');
    expect(asked.slice(1).toSorted()).toEqual(['/@pennantsample/avatar?width=176', '/@pennantsample/tv?width=1280']);
    expect(await page.locator('.budget-text').innerText()).toMatch(/^\d+ of 2000 requests left/);
    expect(await page.locator('#gallery').isVisible()).toBe(false);
    expect(await page.locator('.channel-names').innerText()).toMatch(/^Pennant Sample\s+@pennantsample$/);
    const record = await page.locator('#record').innerText();
    for (const text of ['1,284,000', '96,340,127', 'May 17, 2014', 'Netherlands']) expect(record).toContain(text);
    expect(await page.getByRole('link', { name: 'Crop guide' }).getAttribute('href')).toMatch(/^https:/);
    await expect.poll(() => page.locator('.device .banner img').count()).toBe(4);
    expect([await factOf(page, 'Size'), await factOf(page, 'Format')]).toEqual(['1280 × 720', 'AVIF']);
  });

  test('says why a text cannot name a channel, without a request', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    const notice = page.locator('#notice');
    const videos = [
      'https://www.youtube.com/watch?v=abcdefghijk',
      'https://youtu.be/abcdefghijk',
      'youtube.com/shorts/a',
    ];
    for (const video of videos) {
      await lookUp(video);
      await expect.poll(() => notice.innerText()).toBe('That is a video. Paste the address of its channel.');
      await lookUp('https://www.youtube.com/playlist?list=PL1');
      await expect.poll(() => notice.innerText()).toBe('That is a playlist. Paste the address of its channel.');
    }
    await lookUp('https://pennant.example/about');
    await expect.poll(() => notice.innerText()).toContain('That address is not one of a channel.');
    await lookUp('@!!!');
    await expect.poll(() => notice.innerText()).toContain('A handle has 1 to 30 letters');
    expect(asked).toEqual([]);
  });

  test('searches when typing pauses, and results can be chosen with the keyboard', async () => {
    const { page, asked } = await visitPlayground(used);
    const field = page.getByRole('combobox', { name: 'Look up a channel' });
    await field.pressSequentially('saltmarrow k', { delay: 20 });
    await expect.poll(() => page.getByRole('option').count()).toBeGreaterThan(0);
    expect(asked).toEqual(['/api/search?q=saltmarrow%20k&limit=8']);
    await field.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBe('suggestion-0');
    await field.press('Enter');
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Saltmarrow Kitchen');
    expect(await field.inputValue()).toBe('@saltmarrowkitchen');
  });

  test('shows parts of the TV image on the other devices until their own images are requested', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    const phone = page.getByRole('button', { name: 'Phone', exact: true });
    await expect.poll(() => phone.locator('.banner img.cut').count()).toBe(1);
    await phone.click();
    await expect.poll(() => asked.at(-1)).toBe('/@pennantsample/mobile?width=1280');
    await expect.poll(() => phone.locator('.banner img:not(.cut)').count()).toBe(1);
    expect(await phone.getAttribute('aria-pressed')).toBe('true');
    expect(await page.getByRole('radio', { name: 'Phone' }).isChecked()).toBe(true);
  });

  test('requests the chosen format and size, and offers the image as a file', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Format')).toBe('AVIF');
    await page.getByText('WebP', { exact: true }).click();
    await expect.poll(() => factOf(page, 'Format')).toBe('WebP');
    await page.getByLabel('Width', { exact: true }).fill('320');
    await expect.poll(() => factOf(page, 'Size')).toBe('320 × 180');
    await page.getByRole('button', { name: '640 pixels wide' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('640 × 360');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await downloading).suggestedFilename()).toBe(`${SAMPLE}-tv.webp`);
  });

  test('gives the image and the badge their sizes, as far as the page has room', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}&variant=avatar`);
    await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
    await page.locator('#badge').scrollIntoViewIfNeeded();
    await expect.poll(() => countLoaded(page, '#badge-preview')).toBe(1);
    for (const [id, width, height] of [
      ['preview', 176, 176],
      ['badge-preview', 118, 20],
    ] as const) {
      const image = page.locator(`#${id}`);
      const attributes = [await image.getAttribute('width'), await image.getAttribute('height')];
      expect([id, attributes]).toEqual([id, [String(width), String(height)]]);
      expect([id, await image.boundingBox()]).toEqual([id, expect.objectContaining({ width, height })]);
    }
    await page.setViewportSize({ width: 320, height: 900 });
    await page.locator('#variants').getByText('TV', { exact: true }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    const { width = 0, height = 1 } = (await page.locator('#preview').boundingBox()) ?? {};
    expect(width).toBeLessThan(320);
    expect(width / height).toBeCloseTo(16 / 9, 1);
  });

  test('requests a width that is typed as 1e3 as 1000', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByLabel('Width', { exact: true }).fill('1e3');
    await expect.poll(() => factOf(page, 'Size')).toBe('1000 × 563');
    expect(asked.at(-1)).toBe('/@pennantsample/tv?width=1000');
    expect(await page.locator('#image-url').innerText()).toMatch(/width=1000$/);
  });

  test('names no time for an image that the browser had', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Time')).toMatch(/ms$/);
    await page.getByRole('radio', { name: 'WebP' }).check();
    await expect.poll(() => factOf(page, 'Format')).toBe('WebP');
    await page.getByRole('radio', { name: 'Auto' }).check();
    await expect.poll(() => factOf(page, 'Format')).toBe('AVIF');
    expect([await factOf(page, 'Time'), await factOf(page, 'Cache')]).toEqual(['', 'browser']);
  });

  test('offers different widths for avatars and banners', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByText('Avatar', { exact: true }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
    expect(await page.locator('#image-url').innerText()).toMatch(/\/@pennantsample\/avatar\?width=176$/);
    expect(await page.locator('#presets button').allInnerTexts()).toEqual(['48', '96', '176']);
    await page.getByRole('button', { name: '48 pixels wide' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('48 × 48');
    await page.locator('#variants').getByText('Desktop', { exact: true }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 212');
    expect(await page.locator('#presets button').allInnerTexts()).toEqual(['640', '1280', '2560']);
    expect(asked.filter((path) => /avatar\?width=1280/.test(path))).toEqual([]);
  });

  test('compares the formats on demand', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}&variant=mobile&width=640`);
    await expect.poll(() => factOf(page, 'Size')).toBe('640 × 175');
    expect(asked.filter((path) => /\.(?:avif|webp|jpeg|png)/.test(path))).toEqual([]);
    await page.getByRole('button', { name: 'Compare formats' }).click();
    await expect
      .poll(() => page.locator('.formats .number').allInnerTexts())
      .toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/^[\d.]+ kB$/)));
    for (const [index, format] of ['avif', 'webp', 'jpeg', 'png'].entries()) {
      const item = page.locator('.formats li').nth(index);
      const response = await fetch(`${used.service.publicOrigin}/${SAMPLE}/mobile.${format}?width=640`);
      const bytes = (await response.arrayBuffer()).byteLength;
      expect((await item.innerText()).toLowerCase()).toBe(
        `${format}\n${(bytes / 1000).toFixed(1).replace('.0', '')} kb`,
      );
    }
    await expect.poll(() => countLoaded(page, '.formats img')).toBe(4);
    await page.getByText('Tablet', { exact: true }).first().click();
    await expect.poll(() => page.locator('.formats li').count()).toBe(0);
  });

  test('compares with the width that was just typed, at the first click', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByLabel('Width', { exact: true }).fill('300');
    await page.getByRole('button', { name: 'Compare formats' }).click();
    await expect.poll(() => page.locator('.formats img').count()).toBe(4);
    await expect.poll(() => factOf(page, 'Size')).toBe('300 × 169');
    for (const image of await page.locator('.formats img').all()) expect(await image.evaluate(widthOf)).toBe(300);
  });

  test('weighs less than 70 KB without the images of the first screen', async () => {
    const page = await openPage();
    const sizes: Promise<number>[] = [];
    let underWay = 0;
    page.on('request', () => {
      underWay += 1;
    });
    page.on('requestfinished', (request) => {
      underWay -= 1;
      if (!request.url().endsWith('.webp'))
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(`${used.service.consoleOrigin}/playground/`);
    await expect.poll(() => page.locator('.sample-text').count()).toBe(8);
    await expect.poll(async () => [await countLoaded(page, '#hero-image'), underWay]).toEqual([1, 0]);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(70_000);
  });

  test('loads the images of the first screen only when it shows them', async () => {
    const page = await openPage();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(`${used.service.consoleOrigin}/playground/?channel=@pennantsample`);
    await expect.poll(() => page.locator('.device .banner img').count()).toBe(4);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(requested.filter((url) => url.includes('/gallery/'))).toEqual([]);
    await page.locator('#home').click();
    await page.locator('footer').scrollIntoViewIfNeeded();
    await expect.poll(() => countLoaded(page, '.sample img')).toBe(15);
    await expect.poll(() => countLoaded(page, '#hero-image')).toBe(1);
  });
});

async function openPage(): Promise<Page> {
  const context = await used.browser.newContext();
  onTestFinished(() => context.close());
  return context.newPage();
}

function widthOf(image: unknown): number {
  return (image as { naturalWidth: number }).naturalWidth;
}
