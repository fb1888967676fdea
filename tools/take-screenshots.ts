import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { PROGRAM } from '../test/helpers/process.ts';
import { launchChromium } from './browser/chromium.ts';

/* Makes the images in docs/screenshots with the sample catalog: those of the playground and the console show what `npm run build` made last. */

const PORT = '18180';
const CONSOLE_PORT = '18181';
const PUBLIC = `http://localhost:${PORT}`;
const CONSOLE = `http://localhost:${CONSOLE_PORT}`;
const IMAGES = fileURLToPath(new URL('../docs/screenshots/', import.meta.url));
/** Long enough to fill a part of the console's charts. */
const TRAFFIC_MS = 5 * 60_000;

interface Shot {
  readonly name: string;
  readonly url: string;
  readonly options: BrowserContextOptions;
  readonly isReady: (page: Page) => Promise<unknown>;
}

const WIDE = { viewport: { width: 1280, height: 960 } };
const CHANNEL = `${CONSOLE}/playground/?channel=@pennantsample`;

const hasImages = (page: Page) =>
  Promise.all([page.locator('#facts dd').first().waitFor(), page.locator('.channel-face img').waitFor()]);

const PLAYGROUND: Shot = {
  name: 'playground',
  url: CHANNEL,
  options: { ...WIDE, colorScheme: 'light' },
  isReady: hasImages,
};
const CONSOLE_PAGE: Shot = {
  name: 'console',
  url: CONSOLE,
  options: { ...WIDE, colorScheme: 'light' },
  // Its charts begin when it is opened.
  isReady: sendTraffic,
};
/** Responses that the README shows, each with its path. */
const RESPONSES = {
  'banner.webp': '/@saltmarrowkitchen/mobile.webp?width=640',
  'avatar.webp': '/@saltmarrowkitchen/avatar.webp?width=176',
  'badge.svg': '/api/badge/@saltmarrowkitchen.svg?style=social&logo=youtube',
};

const browser = await launchChromium();
await mkdir(IMAGES, { recursive: true });
try {
  await withService('10/30', saveResponses);
  await withService('10/30', () => take(PLAYGROUND));
  await withService('40/10', () => take(CONSOLE_PAGE));
} finally {
  await browser.close();
}

async function withService(rateLimit: string, work: () => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-screenshots-'));
  const { PATH } = process.env;
  const service = spawn(process.execPath, [PROGRAM, 'serve'], {
    cwd: dataDir,
    env: { PATH, PORT, CONSOLE_PORT, DATA_DIR: dataDir, SOURCES: 'catalog', RATE_LIMIT: rateLimit },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(service.stdout, 'data');
    await work();
  } finally {
    service.kill('SIGTERM');
    await once(service, 'exit');
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function saveResponses(): Promise<void> {
  for (const [name, path] of Object.entries(RESPONSES)) {
    const response = await fetch(PUBLIC + path);
    await writeFile(IMAGES + name, Buffer.from(await response.arrayBuffer()));
  }
}

async function take({ name, url, options, isReady }: Shot): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(url);
  await isReady(page);
  await page.screenshot({ path: `${IMAGES}${name}.png` });
  await context.close();
}

/** The traffic of a quiet instance: records, images, searches, an unknown path now and then, and a client over its limit. */
async function sendTraffic(): Promise<void> {
  const until = performance.now() + TRAFFIC_MS;
  for (let sent = 0; performance.now() < until; sent += 1) {
    const id = `UCPennantSample0000000${1 + (sent % 8)}A`;
    const paths = [
      `/channel/${id}`,
      `/${id}/avatar.webp`,
      `/${id}/tv?width=${300 + (sent % 12) * 40}`,
      '/api/search?q=sample',
    ];
    await fetch(PUBLIC + (sent % 17 === 0 ? '/nowhere' : (paths[sent % paths.length] ?? '/')));
    await new Promise((resolve) => setTimeout(resolve, 120 + 180 * Math.abs(Math.sin(sent / 15))));
  }
}
