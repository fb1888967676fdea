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

/** Each snippet of a box, by the label of its tab. */
async function snippetsOf(page: Page, box: string): Promise<Record<string, string>> {
  const snippets: Record<string, string> = {};
  for (const tab of await page.locator(`#${box}s [role=tab]`).all()) {
    await tab.click();
    snippets[await tab.innerText()] = await page.locator(`#${box}`).innerText();
  }
  return snippets;
}

async function visitSnippets(query: string, box: string): Promise<Record<string, string>> {
  const { page } = await visitPlayground(used, query);
  await expect.poll(() => factOf(page, 'Size')).not.toBe('');
  return snippetsOf(page, box);
}

/** By query and box. Several tests paste snippets of the same page. */
const known = new Map<string, Promise<Record<string, string>>>();

function knownSnippets(query: string, box: string): Promise<Record<string, string>> {
  const key = `${query} ${box}`;
  const snippets = known.get(key) ?? visitSnippets(query, box);
  known.set(key, snippets);
  return snippets;
}

const imageSnippets = (query: string) => knownSnippets(query, 'image-snippet');
const recordSnippets = () => knownSnippets(`?channel=${SAMPLE}`, 'record-snippet');

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
    const { '<img>': html = '' } = await imageSnippets('?channel=@nightglass&variant=desktop&width=640');
    expect(html).toContain('width="640" height="106"');
    const single = await paste(await emptyPage(1000), html);
    expect(single).toMatchObject({ naturalWidth: 640, alt: 'Banner of Nightglass', loading: 'lazy', width: 640 });
    const double = await paste(await emptyPage(1000, 2), html);
    expect(double.currentSrc).toMatch(/width=1280$/);
    expect(double.width).toBe(640);
  });

  test('the <img> of an avatar loads, and is removed if it cannot be loaded', async () => {
    const { '<img>': html = '', ...others } = await imageSnippets('?channel=@nightglass&variant=avatar&width=48');
    expect(Object.keys(others)).not.toContain('<picture>');
    const page = await emptyPage(600, 2);
    expect(await paste(page, html)).toMatchObject({ width: 48, naturalWidth: 48, alt: 'Avatar of Nightglass' });
    await page.setContent(html.replaceAll('/@nightglass/', '/@there-is-no-such-channel/'));
    await expect.poll(() => page.locator('img').count()).toBe(0);
  });

  test.each([
    [390, 'mobile?width=640', 640 / 175],
    [820, 'tablet?width=1200', 1200 / 274],
    [1440, 'desktop?width=1280', 1280 / 212],
  ])('the <picture> loads the crop for a window of %i pixels', async (width, query, ratio) => {
    const { '<picture>': html = '' } = await imageSnippets('?channel=@nightglass');
    const shown = await paste(await emptyPage(width), html);
    expect(shown.currentSrc).toBe(`${used.service.publicOrigin}/@nightglass/${query}`);
    expect(shown.naturalWidth / shown.naturalHeight).toBeCloseTo(ratio, 1);
    expect(shown.width / shown.height).toBeCloseTo(ratio, 1);
  });

  test('the srcset loads the smallest image that fills the page', async () => {
    const { srcset: html = '' } = await imageSnippets('?channel=@nightglass&variant=desktop&format=webp');
    for (const [width, loaded] of [
      [600, 640],
      [1200, 1280],
      [2000, 2560],
    ] as const) {
      const shown = await paste(await emptyPage(width), html);
      expect(shown.currentSrc).toMatch(new RegExp(`desktop\\.webp\\?width=${loaded}$`));
    }
  });

  test('the CSS loads the image', async () => {
    const { CSS: css = '' } = await imageSnippets('?channel=@nightglass&variant=mobile&width=640');
    const page = await emptyPage(800, 2);
    const loading = page.waitForResponse(/mobile\?width=1280$/);
    await page.setContent(`<style>p { height: 100px; ${css} }</style><p></p>`);
    expect((await loading).status()).toBe(200);
  });

  test('the calls of fetch() load image and record', async () => {
    const { fetch: imageCall = '' } = await imageSnippets('?channel=@nightglass');
    const page = await emptyPage(800);
    await page.goto(`${used.service.publicOrigin}/`);
    const type = await page.evaluate(`(async () => { ${imageCall}; return image.type; })()`);
    expect(type).toMatch(/^image\//);
    const { fetch: recordCall = '' } = await recordSnippets();
    const printed = page.waitForEvent('console');
    await page.evaluate(`(async () => { ${recordCall} })()`);
    expect((await printed).text()).toBe('Pennant Sample 1284000');
  });
});

describe.skipIf(!hasBrowser)('snippets in other places', () => {
  test('URL and Markdown lead to the image', async () => {
    const { page } = await visitPlayground(used, '?channel=@nightglass&format=png&width=320');
    await expect.poll(() => factOf(page, 'Size')).toBe('320 × 180');
    const url = await page.locator('#image-url').innerText();
    const { Markdown: markdown } = await snippetsOf(page, 'image-snippet');
    expect(url).toBe(`${used.service.publicOrigin}/@nightglass/tv.png?width=320`);
    expect(markdown).toBe(`![Banner of Nightglass](${url})`);
    const response = await fetch(url);
    const image = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    expect(image).toMatchObject({ format: 'png', width: 320, height: 180 });
  });

  test.skipIf(!hasProgram('curl'))('curl prints the record and stores the image', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pennant-snippets-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { curl: recordCall = '' } = await recordSnippets();
    const { stdout } = await run('sh', ['-c', recordCall], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ channelId: SAMPLE, title: 'Pennant Sample' });
    const { curl: imageCall = '' } = await imageSnippets('?channel=@nightglass&format=webp&width=320');
    await run('sh', ['-c', imageCall], { cwd: folder });
    const stored = await readFile(join(folder, 'UCPennantSample00000008A-tv.webp'));
    expect(await sharp(stored).metadata()).toMatchObject({ format: 'webp', width: 320 });
  });

  test.skipIf(!hasProgram('python3'))('Python reads the record', async () => {
    const { Python: program = '' } = await recordSnippets();
    const { stdout } = await run('python3', ['-c', program]);
    expect(stdout).toBe('Pennant Sample 1284000\n');
  });

  test.skipIf(!hasProgram('php', 'php-cli'))('PHP reads the record', async () => {
    const { PHP: program = '' } = await recordSnippets();
    const { stdout } = await run('php', ['-r', program.replace('<?php\n', '')]);
    expect(stdout).toBe('Pennant Sample 1284000\n');
  });

  test('Discord gets one embed with images that exist', async () => {
    const { Discord: message = '' } = await recordSnippets();
    const { embeds } = JSON.parse(message);
    expect(embeds).toEqual([
      {
        title: 'Pennant Sample',
        url: `https://www.youtube.com/channel/${SAMPLE}`,
        description: expect.stringContaining('One channel with everything'),
        color: expect.any(Number),
        thumbnail: { url: expect.stringContaining('/avatar.png') },
        image: { url: expect.stringContaining('/desktop.jpeg') },
        fields: [
          { name: 'Subscribers', value: '1,284,000', inline: true },
          { name: 'Videos', value: '412', inline: true },
        ],
      },
    ]);
    const types = [embeds[0].thumbnail.url, embeds[0].image.url].map(async (url) =>
      (await fetch(url)).headers.get('content-type'),
    );
    expect(await Promise.all(types)).toEqual(['image/png', 'image/jpeg']);
  });

  test('the badge is an image of the instance, and its preview follows every option', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(asked.filter((path) => path.includes('badge'))).toEqual([]);
    const preview = page.locator('#badge-preview');
    await preview.locator('..').scrollIntoViewIfNeeded();
    await expect.poll(() => preview.evaluate(isLoaded)).toBe(true);
    expect(asked.at(-1)).toBe('/api/badge/@pennantsample.svg');
    await page.locator('#metrics').getByText('Videos').click();
    await page.getByLabel('Style').selectOption('for-the-badge');
    await page.getByLabel('Label').fill('a "b" ]');
    await page.getByLabel('Color').fill('#00ff00');
    await page.getByLabel('Logo').selectOption('youtube');
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
    const { Markdown: markdown, HTML: html = '' } = await snippetsOf(page, 'badge-snippet');
    const url = used.service.publicOrigin + path;
    expect(markdown).toBe(`[![a "b" \\]](${url})](https://www.youtube.com/channel/${SAMPLE})`);
    expect((await paste(await emptyPage(600), html)).alt).toBe('a "b" ]');
  });

  test('every box has a button that copies it', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    for (const box of ['image-snippet', 'record-snippet', 'badge-snippet']) {
      const shown = page.locator(`#${box}`);
      await page.locator('.snippets').filter({ has: shown }).getByRole('button', { name: 'Copy', exact: true }).click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(await shown.innerText());
    }
    await page.getByRole('button', { name: 'Copy URL' }).last().click();
    const url = await page.locator('#image-url').innerText();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(url);
    expect(await page.locator('pre').count()).toBe(4);
  });

  test('are copied on a page without a secure origin, too', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'Copy URL' }).last().click();
    await expect.poll(() => page.locator('#announcements').innerText()).toBe('Copied');
    const field = page.getByRole('combobox', { name: 'Look up a channel' });
    await field.fill('');
    await field.press('Control+V');
    expect(await field.inputValue()).toBe(await page.locator('#image-url').innerText());
  });

  test('say that only this machine can reach a local instance', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => page.locator('.snippets').filter({ hasText: 'on this machine only' }).count()).toBe(3);
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
