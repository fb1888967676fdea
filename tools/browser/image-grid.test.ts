import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../src/config/settings.ts';
import { blockWith } from '../../test/helpers/documents.ts';
import { runNginx } from '../../test/helpers/front.ts';
import { isInstalled } from '../../test/helpers/installed.ts';
import { readMetrics } from '../../test/helpers/metrics.ts';
import { findFreePort } from '../../test/helpers/process.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { type BrowsedService, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* The page with 50 images of docs/on-your-page.md in a browser. */

const IMAGES = 50;
const DOCUMENT = 'docs/on-your-page.md';
const hasNginx = isInstalled('nginx', 'the cache of docs/on-your-page.md');

/** The document's image 50 times, each with its own URL: a small avatar instead of the banner, which takes longer. */
function gridOf(image: string): string {
  const paths = /@pennantsample\/mobile([.a-z]*)\?width=640/;
  expect(image).toMatch(paths);
  return Array.from({ length: IMAGES }, (_, index) =>
    image.replace(paths, `@pennantsample/avatar$1?width=${index + 16}`),
  ).join('\n');
}

const used = useBrowser();

/** The default number of requests, in a window longer than a slow machine needs. */
const DEFAULT_LIMIT = { RATE_LIMIT: `${parseConfig({}).rateLimit.requests}/3600` };

async function startService(
  env: Record<string, string> = DEFAULT_LIMIT,
): Promise<BrowsedService & { readonly origin: string }> {
  const service = await startBrowsedService(env);
  onTestFinished(() => service.close());
  // The browser uses IPv4, like nginx.
  return { ...service, origin: service.publicOrigin.replace('localhost', '127.0.0.1') };
}

/** The number of images that a visitor with an empty browser cache sees. */
async function visit(open: (page: Page) => Promise<unknown>): Promise<number> {
  const context = await used.browser.newContext();
  try {
    const page = await context.newPage();
    await open(page);
    return (await page.evaluate(
      '[...document.images].filter(({ naturalWidth }) => naturalWidth > 0).length',
    )) as number;
  } finally {
    await context.close();
  }
}

async function countRequests({ consoleOrigin }: BrowsedService): Promise<number> {
  const response = await fetch(`${consoleOrigin}/metrics`);
  const series = [...readMetrics(await response.text())];
  const counts = series.filter(([name]) => name.startsWith('pennant_http_requests_total'));
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

/** The author's web server: the document's configuration with the addresses and paths of this test, and a page with a grid. */
async function startAuthorsServer(origin: string): Promise<string> {
  const directory = await createTemporaryDirectory();
  // When root starts nginx, its workers run as another user.
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'html'));
  await writeFile(join(directory, 'html/index.html'), gridOf(blockWith(DOCUMENT, '/channels/', 'html')));
  const port = await findFreePort();
  const edits = [
    ['/var/cache/nginx/channels', join(directory, 'cache')],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['/var/www/html', join(directory, 'html')],
    ['https://img.example.org/', `${origin}/`],
  ] as const;
  const configured = edits.reduce(
    (text, [from, to]) => {
      expect(text).toContain(from);
      return text.replace(from, to);
    },
    blockWith(DOCUMENT, 'proxy_cache_path', 'nginx'),
  );
  const before = `pid ${join(directory, 'pid')};\nerror_log stderr notice;\nevents {}\n`;
  await writeFile(join(directory, 'nginx.conf'), `${before}http {\naccess_log off;\n${configured}\n}\n`);
  const stop = await runNginx(join(directory, 'nginx.conf'));
  onTestFinished(stop);
  return `http://127.0.0.1:${port}`;
}

describe.skipIf(!hasBrowser)('a page with 50 images', () => {
  const direct = (origin: string) => {
    const image = blockWith(DOCUMENT, 'height="175" loading="lazy"', 'html').replaceAll(
      'http://localhost:8080',
      origin,
    );
    return { lazy: gridOf(image), eager: gridOf(image.replace(' loading="lazy"', '')) };
  };

  test('shows a new visitor 10 of them', async () => {
    const { origin } = await startService();
    expect(await visit((page) => page.setContent(direct(origin).eager))).toBe(10);
  });

  test('requests at most ten of them with loading="lazy" if ten fill more than the view', async () => {
    const service = await startService();
    const context = await used.browser.newContext({ viewport: { width: 1280, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const tall = '<style>img { display: block; height: 400px }</style>';
    await page.setContent(tall + direct(service.origin).lazy);
    await expect.poll(() => page.evaluate('document.images[2].naturalWidth > 0')).toBe(true);
    expect(await countRequests(service)).toBeLessThanOrEqual(10);
  });

  describe.skipIf(!hasNginx)('through the author’s cache', () => {
    test('shows all of them if the cache has a higher rate limit, and requests none of them again', async () => {
      const [override = ''] = blockWith(DOCUMENT, '192.0.2.7', 'ini').split('\n');
      const [, limit = ''] = /^RATE_LIMIT_OVERRIDES=192\.0\.2\.7\/32=(.+)$/.exec(override) ?? [];
      const service = await startService({ RATE_LIMIT_OVERRIDES: `127.0.0.1/32=${limit}` });
      const url = await startAuthorsServer(service.origin);
      expect([await visit((page) => page.goto(url)), await countRequests(service)]).toEqual([IMAGES, IMAGES]);
      expect([await visit((page) => page.goto(url)), await countRequests(service)]).toEqual([IMAGES, IMAGES]);
    });
  });
});
