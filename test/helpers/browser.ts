import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { pino } from 'pino';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { buildApp } from '../../src/app/build.ts';
import { shownSettings } from '../../src/config/report.ts';
import { parseConfig } from '../../src/config/settings.ts';
import { listenOnLoopback } from './in-process.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

/** False: the browser suites are skipped by name. Never in CI, which installs the browser. */
export const hasBrowser = CHROMIUM !== undefined || process.env.CI !== undefined;
if (!hasBrowser) console.log('SKIPPED: no chromium on this machine, so the playground and the console are not tested.');

export async function launchBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('There is no chromium: apt-get install chromium');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface BrowsedService {
  /** Of the public listener, without a slash at the end. */
  readonly publicOrigin: string;
  readonly consoleOrigin: string;
  readonly dataDir: string;
  close(): Promise<void>;
}

/** The whole service with the sample catalog on real ports. */
export async function startBrowsedService(env: Record<string, string> = {}): Promise<BrowsedService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'pennant-browser-'));
  const settings = { SOURCES: 'catalog', ENCODERS: '1', DATA_DIR: dataDir, HOST: '127.0.0.1', ...env };
  const app = await buildApp(parseConfig(settings), {
    logger: pino({ level: 'silent' }),
    version: '0.0.0-test',
    settings: shownSettings(settings),
  });
  return {
    publicOrigin: `http://localhost:${await listenOnLoopback(app.http)}`,
    consoleOrigin: `http://localhost:${await listenOnLoopback(app.console)}`,
    dataDir,
    async close() {
      await app.close();
      await app.console.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits for what a page is about to show; a busy machine needs a while. */
export function eventually<T>(read: () => T) {
  return expect.poll(read, { interval: 100 });
}

/** Widths and colours in which the pages must be right. */
export const APPEARANCES: readonly (readonly [width: number, colorScheme: 'light' | 'dark'])[] = [
  [1440, 'light'],
  [820, 'dark'],
  [390, 'light'],
  [320, 'dark'],
  [320, 'light'],
  [390, 'dark'],
  [820, 'light'],
  [1440, 'dark'],
];

/** Shows the page as it is now in another width and colour. */
export async function changeAppearance(page: Page, [width, colorScheme]: (typeof APPEARANCES)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
}

/** What axe-core finds wrong with the page as it is now, one line for each rule. */
export async function findAccessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; help: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

/** Whether the page is wider than the window. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return (await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  )) as boolean;
}
