import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PROGRAM } from '../test/helpers/process.ts';

/* Takes the images of the playground and the console in docs/screenshots, with the sample catalog. They show what `npm run build` made last. */

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
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
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
const GALLERY = `${CONSOLE}/playground/`;
const CHANNEL = `${GALLERY}?channel=@pennantsample`;

const hasImages = (page: Page) =>
  Promise.all([page.locator('#facts dd').first().waitFor(), page.locator('#channel-face img').waitFor()]);
const hasGallery = (page: Page) => page.waitForLoadState('networkidle');
const hasBars = (page: Page) => page.locator('#requests-chart rect').first().waitFor();

const PLAYGROUND_SHOTS: readonly Shot[] = [
  { name: 'playground', url: CHANNEL, options: { ...WIDE, colorScheme: 'light' }, isReady: hasImages },
  { name: 'playground-gallery', url: GALLERY, options: { ...WIDE, colorScheme: 'light' }, isReady: hasGallery },
  { name: 'playground-dark', url: CHANNEL, options: { ...WIDE, colorScheme: 'dark' }, isReady: hasImages },
  { name: 'playground-phone', url: CHANNEL, options: { ...PHONE, colorScheme: 'light' }, isReady: hasImages },
];
const CONSOLE_SHOTS: readonly Shot[] = [
  { name: 'console', url: CONSOLE, options: { ...WIDE, colorScheme: 'light' }, isReady: hasBars },
  { name: 'console-dark', url: CONSOLE, options: { ...WIDE, colorScheme: 'dark' }, isReady: hasBars },
];

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
await mkdir(IMAGES, { recursive: true });
try {
  for (const shot of PLAYGROUND_SHOTS) await withService('10/30', () => take(shot));
  await withService('40/10', async () => {
    await sendTraffic();
    for (const shot of CONSOLE_SHOTS) await take(shot);
  });
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
