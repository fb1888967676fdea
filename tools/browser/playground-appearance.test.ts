import { describe, expect, test } from 'vitest';
import { changeRecords, expectSound, factOf, hasBrowser, usePlayground, visitPlayground } from './browser.ts';

/* The playground at every width, in light and dark, and with the keyboard only. */

const SAMPLE = 'UCPennantSample00000001A';
/** Longer than any channel's. */
const LONG = {
  title: 'قناة الاختبار '.repeat(14).trim(),
  description: Array.from({ length: 40 }, (_, line) => `Line ${line} of a description that never ends.`).join('\n'),
  subscriberCount: '123456789012',
  viewCount: '9876543210987654',
  videoCount: '1234567',
  links: [{ title: 'W'.repeat(90), url: 'https://long.example/' }],
};

const used = usePlayground();

describe.skipIf(!hasBrowser)('the playground in every width and colour scheme', () => {
  test('has no layout or accessibility problem on its first screen, with results and with an error', async () => {
    const { page, lookUp } = await visitPlayground(used);
    await expect.poll(() => page.locator('.sample-text').count()).toBe(8);
    await expectSound(page);
    await lookUp('ni');
    await expect.poll(() => page.locator('.results a').count()).toBeGreaterThan(1);
    await expectSound(page);
    await lookUp('@nobodyhere');
    await page.locator('search .notice').waitFor();
    await expectSound(page);
  });

  test('has no such problem with a channel', async () => {
    const { page } = await visitPlayground(used, '?channel=@nightglass');
    await expect.poll(() => factOf(page, 'Format')).toBe('AVIF');
    await expectSound(page);
  });

  test('has no such problem on the API page, whose list leads to every section', async () => {
    const { page } = await visitPlayground(used, 'api.html');
    await expectSound(page);
    const sections = (await page.evaluate('[...document.querySelectorAll("main h2")].map(({ id }) => id)')) as string[];
    expect(sections.length).toBeGreaterThan(5);
    expect(
      await page.evaluate('[...document.querySelectorAll(".sections a")].map(({ hash }) => hash.slice(1))'),
    ).toEqual(sections);
  });

  test('wraps long texts, and a long description scrolls', async () => {
    const { page } = await visitPlayground(used);
    await changeRecords(page, LONG);
    await page.goto(`${used.service.consoleOrigin}/playground/?channel=${SAMPLE}`);
    const title = page.locator('#channel-title');
    await expect.poll(() => title.getAttribute('title')).toBe(LONG.title);
    await expectSound(page);
    expect(await title.evaluate(directionOf)).toBe('rtl');
    expect((await page.locator('.description').boundingBox())?.height).toBeLessThan(250);
  });
});

test.skipIf(!hasBrowser)('the playground can be used with the keyboard only', async () => {
  const { page } = await visitPlayground(used);
  const { keyboard } = page;
  const focused = () =>
    page.evaluate<string>(`(({ id, className, innerText, name }) =>
      id || /device-\\w+/.exec(className)?.[0] || innerText || name)(document.activeElement)`);
  /** Presses Tab until the element has the focus. */
  async function reach(name: string): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      if ((await focused()).startsWith(name)) return;
      await keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach ${name}.`);
  }
  await reach('query');
  await reach('Nightglass');
  await keyboard.press('Enter');
  await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
  await reach('device-mobile');
  await keyboard.press('Enter');
  await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 350');
  await reach('Variant');
  await keyboard.press('ArrowRight');
  await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
  await reach('Width');
  await keyboard.press('ArrowLeft');
  await expect.poll(() => factOf(page, 'Size')).toBe('96 × 96');
  expect(await focused()).toBe('Width');
  await reach('Copy the image as');
  await page.goBack();
  await expect.poll(() => factOf(page, 'Size')).toBe('176 × 176');
});

function directionOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { direction: string } };
  return getComputedStyle(element).direction;
}
