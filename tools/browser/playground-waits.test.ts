import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BrowsedService,
  createHold,
  factOf,
  hasBrowser,
  startBrowsedService,
  usePlayground,
  visitPlayground,
} from './browser.ts';

/* The playground while it waits: for the rate limit, and for an instance that does not respond. */

const SAMPLE = 'UCPennantSample00000001A';

const used = usePlayground();

describe.skipIf(!hasBrowser)('the rate limit in the playground', () => {
  const LIMIT = 5;
  const WINDOW_MS = 300_000;
  let limited: BrowsedService;
  beforeAll(async () => {
    limited = await startBrowsedService({ RATE_LIMIT: `${LIMIT}/${WINDOW_MS / 1000}` });
  });
  afterAll(() => limited?.close());

  /** A visit with the whole budget. The clocks of the page and of the service can be moved. */
  async function visitLimited() {
    limited.clock.advance(WINDOW_MS);
    const visit = await visitPlayground({ ...used, service: limited }, '', { hasOwnClock: true });
    return {
      ...visit,
      /** All that the service has counted is forgotten after this. */
      async passWindow() {
        limited.clock.advance(WINDOW_MS);
        await visit.page.clock.fastForward(WINDOW_MS);
      },
    };
  }

  test('explains a refused request, counts down, and sends it again by itself', async () => {
    const { page, lookUp, passWindow } = await visitLimited();
    for (let sent = 0; sent < LIMIT; sent += 1) await fetch(`${limited.publicOrigin}/`);
    await lookUp(SAMPLE);
    const notice = page.locator('#notice');
    await expect.poll(() => notice.innerText()).toContain('Too many requests.');
    const again = notice.getByRole('button');
    expect(await again.innerText()).toMatch(/^Try again in \d+ s$/);
    expect(await again.isEnabled()).toBe(false);
    await passWindow();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Pennant Sample');
    expect(await notice.innerText()).toBe('');
  });

  test('is the reason beside the devices, which get their images when it allows them', async () => {
    const { page, lookUp, passWindow } = await visitLimited();
    await lookUp(SAMPLE);
    await expect.poll(() => page.locator('#channel-face img').count()).toBe(1);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await lookUp('@nightglass');
    await page.getByRole('button', { name: 'Look up now' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    const notice = page.locator('#shelf-notice');
    await expect.poll(() => notice.innerText()).toMatch(/Waiting for the rate limit.* Continues in \d+ s\./s);
    await passWindow();
    await expect.poll(() => page.locator('.device .banner img:not(.placeholder)').count()).toBe(4);
    await expect.poll(() => notice.innerText()).toBe('');
  });

  test('leaves the last two requests to the visitor', async () => {
    const { page, asked, lookUp } = await visitLimited();
    await lookUp(SAMPLE);
    await expect
      .poll(() => page.locator('.budget-text').innerText())
      .toMatch(/^2 of 5 requests left.* The page leaves the last two to you\.$/);
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    const notice = page.locator('#image-notice');
    await expect.poll(() => notice.innerText()).toContain('Waiting for the rate limit.');
    expect(asked).toHaveLength(3);
    const left = (await fetch(`${limited.publicOrigin}/`)).headers.get('x-ratelimit-remaining');
    expect(left).toBe('1');
    await notice.getByRole('button', { name: 'Load now' }).click();
    await expect.poll(() => asked.at(-1)).toContain('/tablet?');
    await expect.poll(() => notice.innerText()).toBe('');
  });

  test('continues only with the latest lookup', async () => {
    const { page, asked, lookUp, passWindow } = await visitLimited();
    const notice = page.locator('#notice');
    await lookUp(SAMPLE);
    // All three requests have ended: an aborted one would leave the budget uncertain.
    await expect.poll(() => page.locator('#channel-face img').count()).toBe(1);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    for (const name of ['@nightglass', '@saltmarrowkitchen']) {
      await lookUp(name);
      await expect.poll(() => notice.innerText()).toMatch(/Waiting for the rate limit.* Continues in \d+ s\./s);
    }
    await passWindow();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Saltmarrow Kitchen');
    expect(asked.filter((path) => path.includes('nightglass'))).toEqual([]);
    expect(await notice.innerText()).toBe('');
  });

  test('continues only with the latest choice of an image', async () => {
    const { page, asked, lookUp, passWindow } = await visitLimited();
    const notice = page.locator('#image-notice');
    await lookUp(SAMPLE);
    // All three requests have ended: an aborted one would leave the budget uncertain.
    await expect.poll(() => page.locator('#channel-face img').count()).toBe(1);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    for (const device of ['Phone', 'Tablet', 'Desktop']) {
      await page.getByRole('button', { name: device, exact: true }).click();
      await expect.poll(() => notice.innerText()).toMatch(/Waiting for the rate limit.* Continues in \d+ s\./s);
    }
    await passWindow();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 212');
    expect(asked.filter((path) => /\/(?:mobile|tablet)\?/.test(path))).toEqual([]);
    expect(await notice.innerText()).toBe('');
  });

  test('can be left: the wait is cancelled', async () => {
    const { page, asked, lookUp, passWindow } = await visitLimited();
    await lookUp(SAMPLE);
    // All three requests have ended: an aborted one would leave the budget uncertain.
    await expect.poll(() => page.locator('#channel-face img').count()).toBe(1);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await lookUp('@nightglass');
    const notice = page.locator('#notice');
    await notice.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => notice.innerText()).toContain('Cancelled.');
    await passWindow();
    expect(await page.locator('#gallery').isVisible()).toBe(true);
    expect(asked).toHaveLength(3);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
  });
});

describe.skipIf(!hasBrowser)('an error that says when to try again', () => {
  const RETRY_AFTER_S = 30;
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Retry-After',
    'retry-after': String(RETRY_AFTER_S),
  };

  test.each([
    ['upstream_unavailable', 503],
    ['upstream_invalid', 502],
  ])('counts down, and the page goes on by itself: %s', async (code, status) => {
    const { page, lookUp } = await visitPlayground(used, '', { hasOwnClock: true });
    const response = { status, headers, json: { code, detail: 'Not now.', requestId: 'a-1' } };
    await page.route('**/api/channel/nightglass*', (route) => route.fulfill(response), { times: 1 });
    await lookUp('@nightglass');
    const again = page.locator('#notice').getByRole('button', { name: /^Try again in \d+ s$/ });
    await again.waitFor();
    expect(await again.isEnabled()).toBe(false);
    await page.clock.fastForward(1000 * RETRY_AFTER_S);
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    expect(await page.locator('#notice').innerText()).toBe('');
  });

  test.each([
    ['avatar', 'tv', '.device .face img'],
    ['tv', 'avatar', '.device .banner img'],
  ])('stands beside the devices, which then get their images: %s', async (variant, chosen, images) => {
    const { page } = await visitPlayground(used, '', { hasOwnClock: true });
    const json = { code: 'overloaded', title: 'Overloaded', detail: 'Not now.', requestId: 'a-1' };
    const response = { status: 503, headers, json };
    await page.route(`**/@nightglass/${variant}?*`, (route) => route.fulfill(response), { times: 1 });
    await page.goto(`${used.service.consoleOrigin}/playground/?channel=@nightglass&variant=${chosen}`);
    const notice = page.locator('#shelf-notice');
    await expect.poll(() => notice.innerText()).toMatch(/Overloaded\. Not now\..*Try again in \d+ s/s);
    expect(await page.locator(images).count()).toBe(0);
    await page.clock.fastForward(1000 * RETRY_AFTER_S);
    await expect.poll(() => page.locator(images).count()).toBe(4);
    expect(await notice.innerText()).toBe('');
  });
});

describe.skipIf(!hasBrowser)('an instance that does not respond', () => {
  /** A visit whose next requests for this path get no response until the test releases them. */
  async function visitHanging(path: string) {
    const visit = await visitPlayground(used, '', { hasOwnClock: true });
    const hold = createHold();
    await visit.page.route(path, hold.handle, { times: 1 });
    return { ...visit, hold };
  }

  test('ends a lookup after 20 seconds', async () => {
    const { page, hold, lookUp } = await visitHanging('**/api/channel/nightglass*');
    await lookUp('@nightglass');
    await hold.reached;
    const notice = page.locator('#notice');
    expect(await notice.innerText()).toContain('Looking up @nightglass.');
    await page.clock.fastForward(20_000);
    await expect.poll(() => notice.innerText()).toMatch(/localhost:\d+ did not respond within 20 s\./);
    expect(await page.locator('#gallery').isVisible()).toBe(true);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
  });

  test('ends an image after 20 seconds', async () => {
    const { page, hold, lookUp } = await visitHanging('**/*/tablet?*');
    await lookUp(SAMPLE);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    await hold.reached;
    await page.clock.fastForward(20_000);
    const notice = page.locator('#image-notice');
    await expect.poll(() => notice.innerText()).toMatch(/localhost:\d+ did not respond within 20 s\./);
    expect(await page.locator('#preview').isVisible()).toBe(false);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 292');
  });

  test('can be left: a cancelled or replaced lookup changes nothing when its response comes', async () => {
    const { page, hold, lookUp } = await visitHanging('**/api/channel/nightglass*');
    await lookUp('@nightglass');
    await hold.reached;
    const notice = page.locator('#notice');
    await notice.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => notice.innerText()).toContain('Cancelled.');
    await lookUp('@saltmarrowkitchen');
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Saltmarrow Kitchen');
    hold.release();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(await page.locator('#channel-title').innerText()).toBe('Saltmarrow Kitchen');
    expect(await notice.innerText()).toBe('');
  });

  test('does not stop the comparison of formats for ever', async () => {
    const { page, hold, lookUp } = await visitHanging('**/*/tv.avif?*');
    await lookUp(SAMPLE);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.getByRole('button', { name: 'Compare formats' }).click();
    await hold.reached;
    await page.clock.fastForward(20_000);
    await expect.poll(() => page.locator('.formats li').first().innerText()).toContain('did not respond');
    await expect.poll(() => page.getByRole('button', { name: 'Compare formats' }).isEnabled()).toBe(true);
  });
});
