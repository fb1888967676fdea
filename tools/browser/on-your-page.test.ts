import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { blockWith, nameOf, readDocument } from '../../test/helpers/documents.ts';
import { startFakeUpstream } from '../../test/helpers/fake-upstream.ts';
import { decodeImage } from '../../test/helpers/image.ts';
import { startServiceForTest } from '../../test/helpers/process.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { type BrowsedService, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* The examples of docs/on-your-page.md, except those of its first section, which image-grid.test.ts has. */

const FILE = 'tools/browser/on-your-page.test.ts';
const DOCUMENT = 'docs/on-your-page.md';
const BLOCKS = readDocument(DOCUMENT).blocks.filter(({ note }) => note?.kind === 'run elsewhere' && note.file === FILE);
const run = promisify(execFile);

let service: BrowsedService;
let origin: string;
beforeAll(async () => {
  service = await startBrowsedService({ RATE_LIMIT_OVERRIDES: '127.0.0.0/8=unlimited' });
  origin = service.publicOrigin.replace('localhost', '127.0.0.1');
});
afterAll(() => service.close());

/** The example with the address of this test's instance. */
function onInstance(text: string): string {
  return text.replaceAll(/http:\/\/localhost:8080|https:\/\/img\.example\.org/g, origin);
}

function blocksIn(language: string): (readonly [name: string, text: string])[] {
  return BLOCKS.flatMap((block) => (block.language === language ? [[nameOf(block), block.text] as const] : []));
}

async function loadImage(url: string) {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  return decodeImage(Buffer.from(await response.arrayBuffer()));
}

test('every example has a language that is tested below', () => {
  const tested = ['diff', 'html', 'js', 'json', 'md', 'yaml'];
  expect(BLOCKS.length).toBeGreaterThan(12);
  expect(BLOCKS.filter(({ language }) => !tested.includes(language))).toEqual([]);
});

describe.skipIf(!hasBrowser)('pages', () => {
  const used = useBrowser();

  /** Serves the block in a page of the author's server, which has one file: /channel.svg. */
  async function open(html: string, width = 1280): Promise<{ readonly page: Page; readonly asked: string[] }> {
    const server = await startFakeUpstream((request, response) => {
      const isPage = request.url === '/';
      response.writeHead(isPage || request.url === '/channel.svg' ? 200 : 404, {
        'content-type': isPage ? 'text/html' : 'image/svg+xml',
      });
      response.end(isPage ? html : '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>');
    });
    const context = await used.browser.newContext({ viewport: { width, height: 900 } });
    onTestFinished(async () => {
      await context.close();
      await server.close();
    });
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(origin)) asked.push(request.url().slice(origin.length));
    });
    await page.goto(`${server.origin}/`);
    return { page, asked };
  }

  const sourceOf = (page: Page) => page.evaluate('document.images[0].currentSrc') as Promise<string>;
  const isShown = (page: Page) => page.evaluate('document.images[0].naturalWidth > 0');

  /** All examples with an image of the instance, also those that another test runs. */
  const withImages = [DOCUMENT, 'README.md']
    .flatMap((name) => readDocument(name).blocks)
    .filter(({ language, text }) => language === 'html' && /<img[^>]* src="http/.test(text))
    .flatMap((block) => [390, 1600].map((width) => [nameOf(block), width, block.text] as const));

  test.each(withImages)('%s is drawn in its own ratio in a window of %i pixels', async (_name, width, html) => {
    const { page } = await open(`<!doctype html><style>body { margin: 0 }</style>${onInstance(html)}`, width);
    await expect.poll(() => isShown(page)).toBe(true);
    const { natural, drawn, drawnWidth } = (await page.evaluate(`(() => {
      const { naturalWidth, naturalHeight, width, height } = document.images[0];
      return { natural: naturalWidth / naturalHeight, drawn: width / height, drawnWidth: width };
    })()`)) as { natural: number; drawn: number; drawnWidth: number };
    expect(Math.abs(drawn / natural - 1)).toBeLessThan(0.02);
    if (html.includes('<picture>')) expect(drawnWidth).toBeLessThanOrEqual(width);
  });

  test('a list shows the data of many channels, and the reason why one is missing', async () => {
    const { page, asked } = await open(onInstance(blockWith(DOCUMENT, 'api/channels', 'html')));
    await expect
      .poll(() => page.locator('#list li').allInnerTexts())
      .toEqual(['Pennant Sample: 1284000', 'Lantern Hours: hidden', expect.stringMatching(/^@nobody: \w.+\.$/)]);
    expect(asked).toHaveLength(1);
  });

  test('a grid with srcset requests one size, and <picture> one crop', async () => {
    const sizes = await open(onInstance(blockWith(DOCUMENT, 'sizes=')));
    await expect.poll(() => isShown(sizes.page)).toBe(true);
    expect(sizes.asked).toEqual(['/@pennantsample/mobile?width=320']);
    const crops = await open(onInstance(blockWith(DOCUMENT, '<picture>')), 390);
    await expect.poll(() => isShown(crops.page)).toBe(true);
    expect(crops.asked).toEqual(['/@pennantsample/mobile?width=800']);
  });

  test('a missing banner is replaced by the avatar, and a missing avatar by a file of the page', async () => {
    const html = onInstance(blockWith(DOCUMENT, 'onerror='));
    const { page } = await open(html);
    await expect.poll(() => sourceOf(page)).toBe(`${origin}/@lanternhours/avatar?width=176`);
    await expect.poll(() => isShown(page)).toBe(true);
    const unknown = await open(html.replaceAll('@lanternhours', '@nobody'));
    await expect.poll(() => sourceOf(unknown.page)).toMatch(/^http:[^@]+\/channel\.svg$/);
    expect(unknown.asked).toEqual(['/@nobody/mobile?width=640', '/@nobody/avatar?width=176']);
  });
});

describe('image components', () => {
  /** Saves every module at the path in its first line, beside the packages that it imports. */
  async function saveModules(): Promise<string> {
    const directory = await createTemporaryDirectory();
    const files = {
      'package.json': '{ "type": "module" }',
      // As in Nuxt Image 2.1 and Astro 7.3.
      'node_modules/@nuxt/image/package.json': '{ "exports": { "./runtime": "./runtime.mjs" } }',
      'node_modules/@nuxt/image/runtime.mjs': 'export const defineProvider = (setup) => () => setup;',
      'node_modules/astro/package.json': '{ "exports": { "./assets": "./assets.mjs", "./config": "./config.mjs" } }',
      'node_modules/astro/assets.mjs': 'export const baseService = { getHTMLAttributes: () => ({}) };',
      'node_modules/astro/config.mjs': 'export const defineConfig = (config) => config;',
    };
    const listings = blocksIn('js').map(([, text]) => [/^\/\/ (\S+?):?(?: |\n)/.exec(text)?.[1], onInstance(text)]);
    for (const [path = '', text = ''] of [...Object.entries(files), ...listings]) {
      await mkdir(join(directory, dirname(path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    return directory;
  }

  async function importFrom<T>(directory: string, path: string): Promise<T> {
    return ((await import(/* @vite-ignore */ pathToFileURL(join(directory, path)).href)) as { default: T }).default;
  }

  const SOURCE = '/@pennantsample/mobile';

  test('Next.js', async () => {
    const directory = await saveModules();
    type Loader = (options: { src: string; width: number; quality?: number }) => string;
    const loader = await importFrom<Loader>(directory, 'pennant-loader.js');
    expect(await loadImage(loader({ src: SOURCE, width: 640 }))).toMatchObject({ width: 640 });
    expect(loader({ src: SOURCE, width: 640, quality: 75 })).toBe(`${origin}${SOURCE}?width=640&quality=75`);
  });

  test('Nuxt', async () => {
    const directory = await saveModules();
    vi.stubGlobal('defineNuxtConfig', (config: object) => config);
    onTestFinished(() => void vi.unstubAllGlobals());
    interface NuxtConfig {
      readonly image: { readonly providers: { readonly pennant: { provider: string; options: { baseURL: string } } } };
    }
    const { provider, options } = (await importFrom<NuxtConfig>(directory, 'nuxt.config.js')).image.providers.pennant;
    // Nuxt's ~ is the folder app.
    type Provider = () => { getImage(src: string, context: object): { url: string } };
    const { getImage } = (await importFrom<Provider>(directory, provider.replace('~/', 'app/')))();
    const { url } = getImage(SOURCE, { ...options, modifiers: { width: 640, format: 'webp' } });
    expect(await loadImage(url)).toMatchObject({ width: 640, format: 'webp' });
  });

  test('Astro', async () => {
    const directory = await saveModules();
    interface AstroConfig {
      readonly image: { readonly service: { entrypoint: string; config: { instance: string } } };
    }
    const { image } = await importFrom<AstroConfig>(directory, 'astro.config.mjs');
    type Service = { getURL(options: object, config: object): string; getHTMLAttributes?: unknown };
    const astroService = await importFrom<Service>(directory, image.service.entrypoint);
    const url = astroService.getURL({ src: `${origin}${SOURCE}`, width: 320, height: 88, format: 'avif' }, image);
    expect(await loadImage(url)).toMatchObject({ width: 320, height: 88, format: 'avif' });
    expect(astroService.getHTMLAttributes).toBeDefined();
    expect(astroService.getURL({ src: 'https://other.example/a.png', width: 9 }, image)).toBe(
      'https://other.example/a.png',
    );
    expect(astroService.getURL({ src: { src: '/_astro/a.png' } }, image)).toBe('/_astro/a.png');
  });

  test('the copies made by the build, also when the rate limit is reached', async () => {
    const directory = await saveModules();
    const limited = await startServiceForTest({ directory, env: { RATE_LIMIT_OVERRIDES: '', RATE_LIMIT: '3/1' } });
    const script = (await readFile(join(directory, 'copy-images.mjs'), 'utf8')).replaceAll(origin, limited.base);
    await writeFile(join(directory, 'copy-images.mjs'), script);
    const names = ['nightglass', 'ninthtide', 'pennantsample', 'saltmarrowkitchen'];
    // A busy machine may take longer for an image than a request waits, and the script takes that for an error.
    for (const name of names) {
      const url = `${limited.base}/@${name}/mobile.webp?width=640`;
      await expect.poll(async () => (await fetch(url)).status).toBe(200);
    }
    await run(process.execPath, ['copy-images.mjs'], { cwd: directory });
    const copies = await readdir(join(directory, 'public/channels'));
    expect(copies.toSorted()).toEqual(names.map((name) => `${name}.webp`));
    for (const copy of copies) {
      const image = await decodeImage(await readFile(join(directory, 'public/channels', copy)));
      expect(image).toMatchObject({ format: 'webp', width: 640 });
    }
  });
});

describe('other programs', () => {
  test('a link preview has a JPEG of 1,200 pixels under 300 KB', async () => {
    const [, content = ''] = /content="([^"]+)"/.exec(onInstance(blockWith(DOCUMENT, 'og:image'))) ?? [];
    const url = content.replaceAll('&amp;', '&');
    expect(await loadImage(url)).toMatchObject({ format: 'jpeg', width: 1200, height: 630 });
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBeLessThan(300_000);
  });

  test('Discord finds the images of the embed', async () => {
    const { embeds } = JSON.parse(onInstance(blockWith(DOCUMENT, '"embeds"'))) as {
      embeds: { thumbnail: { url: string }; image: { url: string } }[];
    };
    expect(await loadImage(embeds[0]?.thumbnail.url ?? '')).toMatchObject({ format: 'png', width: 256 });
    expect(await loadImage(embeds[0]?.image.url ?? '')).toMatchObject({ format: 'jpeg', width: 1280 });
  });

  function imagesIn(markdown: string): string[] {
    return [...markdown.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, url = '']) => url);
  }

  test('the retired badge of shields.io works with the other host', async () => {
    const [before = '', after = ''] = imagesIn(blockWith(DOCUMENT, 'img.shields.io/youtube', 'diff'));
    expect(after).toBe(before.replace('img.shields.io', 'img.example.org'));
    expect(await (await fetch(onInstance(after))).text()).toContain('<title>Subscribers: 1.28M</title>');
  });

  test('GitHub finds the image and the badges', async () => {
    const [image = '', ...badges] = imagesIn(onInstance(blockWith(DOCUMENT, '.svg?style=flat-square')));
    expect(await loadImage(image)).toMatchObject({ format: 'jpeg', width: 830 });
    const drawn = await Promise.all(badges.map(async (url) => (await fetch(url)).text()));
    expect(drawn).toEqual([
      expect.stringContaining('<title>subscribers: 1.28M</title>'),
      expect.stringContaining('<title>views on YouTube: 96.3M</title>'),
    ]);
  });

  test('Home Assistant finds what its sensor and its card name', async () => {
    const { rest } = parseYaml(onInstance(blockWith(DOCUMENT, 'value_template'))) as {
      rest: { resource: string; sensor: { json_attributes: string[] }[] }[];
    };
    const [{ resource, sensor } = { resource: '', sensor: [] }] = rest;
    const record = (await (await fetch(resource)).json()) as Record<string, unknown>;
    const inTemplates = [...JSON.stringify(sensor).matchAll(/value_json\.(\w+)/g)].map(([, name = '']) => name);
    expect(inTemplates).toContain('subscriberCount');
    const named = [...inTemplates, ...sensor.flatMap(({ json_attributes }) => json_attributes)];
    expect(named.filter((name) => !(name in record))).toEqual([]);
    const card = parseYaml(onInstance(blockWith(DOCUMENT, 'type: image'))) as { image: string };
    expect(await loadImage(card.image)).toMatchObject({ format: 'webp', width: 960 });
  });
});
