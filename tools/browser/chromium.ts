import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell needs half of the CPU time of a whole Chromium. */
const PROGRAM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

export const hasChromium = PROGRAM !== undefined;

/** @throws Error if there is no Chromium */
export async function launchChromium(): Promise<Browser> {
  if (PROGRAM === undefined) throw new Error('There is no chromium: apt-get install chromium-headless-shell');
  return chromium.launch({ executablePath: PROGRAM, args: ['--disable-gpu', '--disable-quic'] });
}
