import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isInstalled } from '../../test/helpers/installed.ts';
import { factOf, hasBrowser, usePlayground, visitPlayground } from './browser.ts';

/* The playground's snippets work where users paste them. */

const SAMPLE = 'UCPennantSample00000001A';
const run = promisify(execFile);

const used = usePlayground();

const hasProgram = (name: string, debianPackage?: string) =>
  isInstalled(name, `the playground's snippet for ${name}`, debianPackage);

/** Each snippet of a card, by the label of its choice. */
async function snippetsOf(page: Page, card: string): Promise<Record<string, string>> {
  const snippets: Record<string, string> = {};
  for (const choice of await page.locator(`${card} .snippets label`).all()) {
    await choice.click();
    snippets[await choice.innerText()] = await page.locator(`${card} .snippets pre`).innerText();
  }
  return snippets;
}

async function snippetsAt(query: string, card = '#image'): Promise<Record<string, string>> {
  const { page } = await visitPlayground(used, query);
  await expect.poll(() => factOf(page, 'Size')).not.toBe('');
  return snippetsOf(page, card);
}

async function emptyPage(width: number, deviceScaleFactor = 1): Promise<Page> {
  const context = await used.browser.newContext({ viewport: { width, height: 800 }, deviceScaleFactor });
  onTestFinished(() => context.close());
  return context.newPage();
}

/** Pastes HTML into a page and returns its image, once the browser has loaded it. */
async function paste(page: Page, html = '') {
  await page.setContent(`<!doctype html><title>Pasted</title>${html}`);
  const image = page.locator('img');
  await expect.poll(() => image.evaluate(isLoaded)).toBe(true);
  return image.evaluate(imageOf);
}

describe.skipIf(!hasBrowser)('snippets in a page', () => {
  test('the <img> of a banner loads with a device pixel ratio of 1 and 2', async () => {
    const { '<img>': html = '' } = await snippetsAt('?channel=@nightglass&variant=desktop&width=640');
    expect(html).toContain('width="640" height="106"');
    const single = await paste(await emptyPage(1000), html);
    expect(single).toMatchObject({ naturalWidth: 640, alt: 'Banner of Nightglass', loading: 'lazy', width: 640 });
    const double = await paste(await emptyPage(1000, 2), html);
    expect(double.currentSrc).toMatch(/width=1280$/);
    expect(double.width).toBe(640);
  });

  test('the <img> of an avatar loads, and is removed if it cannot be loaded', async () => {
    const { '<img>': html = '', ...others } = await snippetsAt('?channel=@nightglass&variant=avatar&width=48');
    expect(Object.keys(others)).not.toContain('<picture>');
    const page = await emptyPage(600, 2);
    expect(await paste(page, html)).toMatchObject({ width: 48, naturalWidth: 48, alt: 'Avatar of Nightglass' });
    await page.setContent(html.replaceAll('/@nightglass/', '/@there-is-no-such-channel/'));
    await expect.poll(() => page.locator('img').count()).toBe(0);
  });

  test.each([
    [390, 'mobile?width=640', 640 / 175],
    [1440, 'desktop?width=1280', 1280 / 212],
  ])('the <picture> loads the crop for a window of %i pixels', async (width, query, ratio) => {
    const { '<picture>': html = '' } = await snippetsAt('?channel=@nightglass');
    const shown = await paste(await emptyPage(width), html);
    expect(shown.currentSrc).toBe(`${used.service.publicOrigin}/@nightglass/${query}`);
    expect(shown.naturalWidth / shown.naturalHeight).toBeCloseTo(ratio, 1);
    expect(shown.width / shown.height).toBeCloseTo(ratio, 1);
  });
});

describe.skipIf(!hasBrowser)('snippets in other places', () => {
  test.skipIf(!hasProgram('curl'))('curl prints the record and stores the image', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pennant-snippets-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { curl: recordCall = '' } = await snippetsAt(`?channel=${SAMPLE}`, '#code');
    const { stdout } = await run('sh', ['-c', recordCall], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ channelId: SAMPLE, title: 'Pennant Sample' });
    const { curl: imageCall = '' } = await snippetsAt('?channel=@nightglass&format=webp&width=320');
    await run('sh', ['-c', imageCall], { cwd: folder });
    const stored = await readFile(join(folder, 'UCPennantSample00000008A-tv.webp'));
    expect(await sharp(stored).metadata()).toMatchObject({ format: 'webp', width: 320 });
  });

  test('the badge is an image of the service, and its preview follows every option', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    const preview = page.locator('#badge img');
    await expect.poll(() => preview.evaluate(isLoaded)).toBe(true);
    await page.getByRole('radio', { name: 'Videos' }).check();
    await page.getByRole('radio', { name: 'for-the-badge' }).check();
    await page.getByLabel('Label').fill('a "b" ]');
    await page.getByLabel('Label').press('Enter');
    await page.getByLabel('Color').fill('#00ff00');
    await page.getByRole('radio', { name: 'YouTube' }).check();
    const path =
      '/api/badge/@pennantsample.svg?metric=videos&style=for-the-badge&label=a+%22b%22+%5D&color=00ff00&logo=youtube';
    await expect.poll(() => asked.at(-1)).toBe(path);
    await expect.poll(() => preview.getAttribute('alt')).toBe('a "b" ]');
    const { data, info } = await sharp(await preview.screenshot())
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    const right = [...data.subarray((3 * info.width - 3) * 3, (3 * info.width - 3) * 3 + 3)];
    expect(right).toEqual([0, 255, 0]);
    const { Markdown: markdown, HTML: html = '' } = await snippetsOf(page, '#badge');
    const url = used.service.publicOrigin + path;
    expect(markdown).toBe(`[![a "b" \\]](${url})](https://www.youtube.com/channel/${SAMPLE})`);
    expect((await paste(await emptyPage(600), html)).alt).toBe('a "b" ]');
  });
});

interface Shown {
  readonly complete: boolean;
  readonly currentSrc: string;
  readonly naturalWidth: number;
  readonly naturalHeight: number;
  readonly width: number;
  readonly height: number;
  readonly alt: string;
  readonly loading: string;
}

function isLoaded(image: unknown): boolean {
  const { complete, naturalWidth } = image as Shown;
  return complete && naturalWidth > 0;
}

function imageOf(image: unknown): Shown {
  const { complete, currentSrc, naturalWidth, naturalHeight, width, height, alt, loading } = image as Shown;
  return { complete, currentSrc, naturalWidth, naturalHeight, width, height, alt, loading };
}
