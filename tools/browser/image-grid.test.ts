import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { blockWith } from '../../test/helpers/documents.ts';
import { findNginx, replaceEach, useNginx } from '../../test/helpers/front.ts';
import { readMetrics } from '../../test/helpers/metrics.ts';
import { findFreePort } from '../../test/helpers/process.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { type BrowsedService, hasBrowser, startBrowsedService, useBrowser } from './browser.ts';

/* The page with 50 images of docs/on-your-page.md in a browser. */

const IMAGES = 50;
const DOCUMENT = 'docs/on-your-page.md';

/** The document's image 50 times, each with its own URL: a small avatar instead of the banner, which takes longer. */
function gridOf(image: string): string {
  const paths = /@pennantsample\/mobile([.a-z]*)\?width=640/;
  expect(image).toMatch(paths);
  return Array.from({ length: IMAGES }, (_, index) =>
    image.replace(paths, `@pennantsample/avatar$1?width=${index + 16}`),
  ).join('\n');
}

const used = useBrowser();

async function startService(env?: Record<string, string>): Promise<BrowsedService & { readonly origin: string }> {
  const service = await startBrowsedService(env);
  onTestFinished(() => service.close());
  // The browser uses IPv4, like nginx.
  return { ...service, origin: service.publicOrigin.replace('localhost', '127.0.0.1') };
}

/** The number of images that a visitor with an empty browser cache sees. */
async function visit(url: string): Promise<number> {
  const context = await used.browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
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
  await mkdir(join(directory, 'html'));
  await writeFile(join(directory, 'html/index.html'), gridOf(blockWith(DOCUMENT, '/channels/', 'html')));
  const port = await findFreePort();
  const configured = replaceEach(blockWith(DOCUMENT, 'proxy_cache_path', 'nginx'), [
    ['/var/cache/nginx/channels', join(directory, 'cache')],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['/var/www/html', join(directory, 'html')],
    ['https://img.example.org/', `${origin}/`],
  ]);
  await useNginx(configured, directory);
  return `http://127.0.0.1:${port}`;
}

describe.skipIf(!hasBrowser)('a page with 50 images', () => {
  test('requests at most ten of them with loading="lazy" if ten fill more than the view', async () => {
    const service = await startService();
    const context = await used.browser.newContext({ viewport: { width: 1280, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const tall = '<style>img { display: block; height: 400px }</style>';
    const image = blockWith(DOCUMENT, 'height="175" loading="lazy"', 'html');
    await page.setContent(tall + gridOf(image.replaceAll('http://localhost:8080', service.origin)));
    await expect.poll(() => page.evaluate('document.images[2].naturalWidth > 0')).toBe(true);
    expect(await countRequests(service)).toBeLessThanOrEqual(10);
  });

  describe.skipIf(!findNginx())('through the author’s cache', () => {
    test('shows all of them if the cache has a higher rate limit, and requests none of them again', async () => {
      const [override = ''] = blockWith(DOCUMENT, '192.0.2.7', 'ini').split('\n');
      const [, limit = ''] = /^RATE_LIMIT_OVERRIDES=192\.0\.2\.7\/32=(.+)$/.exec(override) ?? [];
      const service = await startService({ RATE_LIMIT_OVERRIDES: `127.0.0.1/32=${limit}` });
      const url = await startAuthorsServer(service.origin);
      expect([await visit(url), await countRequests(service)]).toEqual([IMAGES, IMAGES]);
      expect([await visit(url), await countRequests(service)]).toEqual([IMAGES, IMAGES]);
    });
  });
});
