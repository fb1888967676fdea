import sharp from 'sharp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { catalogLine } from '../../test/helpers/catalog.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import {
  createHold,
  factOf,
  hasBrowser,
  openInstance,
  startBrowsedService,
  usePlayground,
  visitPlayground,
} from './browser.ts';

/* The states of the playground: loading, errors, missing images and its address. */

const SAMPLE = 'UCPennantSample00000001A';
const BARE = numberedChannelId(1);
const SMALL = numberedChannelId(2);
const UNREACHABLE = 'http://127.0.0.1:9';

const used = usePlayground(async () => {
  // Half of each colour, so that a crop of the whole banner differs from a part of its TV crop.
  const half = { create: { width: 530, height: 175, channels: 3 as const, background: '#f00' } };
  const banner = sharp({ create: { width: 1060, height: 175, channels: 3, background: '#00f' } });
  const image = await banner
    .composite([{ input: half, left: 0, top: 0 }])
    .png()
    .toBuffer();
  return { lines: [catalogLine(1), catalogLine(2, { bannerFile: 'small.png' })], images: { 'small.png': image } };
});

describe.skipIf(!hasBrowser)('the playground, while it loads', () => {
  test('a record, shows that and no other channel', async () => {
    const { page, lookUp } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    const hold = createHold();
    await page.route('**/api/channel/nightglass*', hold.handle);
    await lookUp('@nightglass');
    await hold.reached;
    expect(await page.locator('#notice p').innerText()).toBe('Looking up @nightglass.');
    expect(await page.locator('#channel').getAttribute('aria-busy')).toBe('true');
    expect(await page.locator('main').innerText()).not.toContain('Pennant Sample');
    hold.release();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    expect(await page.locator('#notice').innerText()).toBe('');
    expect(await page.locator('#channel').getAttribute('aria-busy')).toBe('false');
  });

  test('an image or search results, shows that', async () => {
    const { page, lookUp } = await visitPlayground(used);
    const [image, search] = [createHold(), createHold()];
    await page.route('**/*/tv?*', image.handle);
    await page.route('**/api/search?q=some*', search.handle);
    await lookUp(SAMPLE);
    await image.reached;
    expect(await page.locator('#image-notice p').innerText()).toBe('Loading the image: TV.');
    image.release();
    await expect.poll(() => page.locator('#image-notice').innerText()).toBe('');
    expect(await page.locator('#preview').isVisible()).toBe(true);
    await lookUp('some words');
    await search.reached;
    expect(await page.locator('#notice p').innerText()).toBe('Searching for “some words”.');
    search.release();
    await expect.poll(() => page.locator('#notice').innerText()).toBe('Nothing found for “some words”.');
  });
});

describe.skipIf(!hasBrowser)('an error in the playground', () => {
  test('removes the former channel, and offers a retry only if it can help', async () => {
    const { page, lookUp } = await visitPlayground(used, `?channel=${SAMPLE}`);
    const notice = page.locator('#notice');
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await lookUp('@nobodyhere');
    const sentence = 'There is no channel with the handle "nobodyhere".';
    await expect.poll(() => notice.locator('p').innerText()).toMatch(`Channel not found. ${sentence} Request `);
    expect(await page.locator('#channel').isVisible()).toBe(false);
    expect(await page.locator('#gallery').isVisible()).toBe(true);
    expect(await notice.getByRole('button').allInnerTexts()).toEqual(['Search for it']);
    await notice.getByRole('button', { name: 'Search for it' }).click();
    await expect.poll(() => notice.innerText()).toBe('Nothing found for “nobodyhere”.');
    await page.route('**/api/channel/nightglass*', (route) => route.abort(), { times: 1 });
    await lookUp('@nightglass');
    await expect
      .poll(() => notice.innerText())
      .toContain(`${used.service.publicOrigin.slice(7)} cannot be reached from this browser.`);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
  });

  test('searches by itself for one word that is no name of a channel', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    const notice = page.locator('#notice');
    await lookUp('nobodyhere');
    const reason = 'There is no channel with the name “nobodyhere”.';
    await expect.poll(() => notice.innerText()).toBe(`${reason} Nothing found for “nobodyhere”.`);
    await lookUp('kitchen');
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
    expect(await notice.innerText()).toContain('Choose a channel from the list.');
    expect(asked.at(-1)).toBe('/api/search?q=kitchen&limit=8');
  });

  test('says that the browser is offline, and goes on when it is not', async () => {
    const { page, lookUp } = await visitPlayground(used);
    // A local instance could be reached without a connection.
    await page.route('**/playground/config.json', (route) => route.fulfill({ json: { instance: 'http://img.test' } }));
    await page.route('http://img.test/**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: used.service.publicOrigin + pathname + search }) });
    });
    await page.reload();
    await page.context().setOffline(true);
    await page.route('http://img.test/api/**', (route) => route.abort(), { times: 1 });
    await lookUp('@nightglass');
    await expect.poll(() => page.locator('#notice').innerText()).toContain('Offline. This browser has no connection.');
    await page.context().setOffline(false);
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    await page.route(
      'http://img.test/@ninthtide/avatar?*',
      async (route) => {
        await page.context().setOffline(true);
        await expect.poll(() => page.evaluate('navigator.onLine')).toBe(false);
        await route.abort();
      },
      { times: 1 },
    );
    await lookUp('@ninthtide');
    await expect.poll(() => page.locator('#shelf-notice').innerText()).toContain('Offline.');
    await page.context().setOffline(false);
    await expect.poll(() => page.locator('.device .face img').count()).toBe(4);
    expect(await page.locator('#shelf-notice').innerText()).toBe('');
  });

  test('reports a server that is not an instance', async () => {
    const { page, lookUp } = await visitPlayground(used);
    const json = { 'access-control-allow-origin': '*', 'content-type': 'application/json' };
    await page.route('**/api/channel/*', (route) => route.fulfill({ headers: json, body: '{"hello":"world"}' }));
    await lookUp(SAMPLE);
    await expect.poll(() => page.locator('#notice').innerText()).toContain('not a Pennant instance');
    expect(await page.locator('#notice').getByRole('button').count()).toBe(0);
  });

  test('for an image removes the former image', async () => {
    const { page } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.route('**/*/tablet?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Tablet', exact: true }).click();
    await expect.poll(() => page.locator('#image-notice').innerText()).toContain('No response.');
    expect(await page.locator('#preview').isVisible()).toBe(false);
    expect(await page.locator('#facts').innerText()).toBe('');
  });
});

describe.skipIf(!hasBrowser)('a channel in the playground', () => {
  test('without images has no snippets of another channel', async () => {
    const { page, lookUp } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await lookUp(BARE);
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Channel 1');
    const sentence = 'This channel has no banner and no avatar.';
    await expect.poll(() => page.locator('#image-notice').innerText()).toBe(sentence);
    expect(await page.locator('#shelf-note').innerText()).toBe(sentence);
    expect(await page.locator('#image-snippets').isVisible()).toBe(false);
    expect(await page.locator('#comparison').isVisible()).toBe(false);
    expect(await page.locator('main').innerText()).not.toContain(SAMPLE);
    expect(await page.locator('#record .counts').innerText()).toMatch(/(?:\w+\s+not available\s*){3}/);
  });

  test('without a banner is marked, and its avatar is shown', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    await lookUp('@lanternhours');
    const seen = async () => [await factOf(page, 'Size'), await page.locator('#image-notice').innerText()];
    await expect.poll(seen).toEqual(['176 × 176', '']);
    expect(asked).toHaveLength(2);
    expect(await page.locator('#shelf-note').innerText()).toBe('This channel has no banner.');
    expect(await page.getByRole('radio', { name: 'Avatar' }).isChecked()).toBe(true);
    expect(await page.getByRole('radio', { name: 'TV' }).isDisabled()).toBe(true);
    expect(await page.locator('.face img').count()).toBe(5);
    // No shade of a banner that is not there.
    expect(await page.locator('.device-tv .head').evaluate(shadeOf)).toBe('none');
    expect(await page.locator('#record .counts').innerText()).not.toContain('hidden');
  });

  test('with a small banner shows it on every device, in each device’s own crop', async () => {
    const { page, asked, lookUp } = await visitPlayground(used);
    await lookUp(SMALL);
    await expect.poll(() => page.locator('.device .banner img:not(.cut)').count()).toBe(4);
    expect(await factOf(page, 'Size')).toBe('311 × 175');
    expect(asked.slice(2).toSorted()).toEqual(
      ['desktop', 'mobile', 'tablet'].map((variant) => `/${SMALL}/${variant}?width=1280`),
    );
  });
});

describe.skipIf(!hasBrowser)('the address of the playground', () => {
  test('contains the whole state, which another browser restores', async () => {
    const { page } = await visitPlayground(used, '', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('link', { name: 'Nightglass' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.locator('#variants').getByText('Tablet').click();
    await page.getByText('WebP', { exact: true }).click();
    await page.getByLabel('Width', { exact: true }).fill('700');
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Quality').fill('40');
    await expect.poll(() => page.url()).toContain('quality=40');
    await expect.poll(() => factOf(page, 'Size')).toBe('700 × 160');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(() => page.locator('#announcements').innerText()).toBe('Copied');
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(link).toBe(
      `${used.service.consoleOrigin}/playground/?channel=@nightglass&variant=tablet&format=webp&width=700&quality=40`,
    );
    const other = await visitPlayground(used, new URL(link).search);
    await expect.poll(() => factOf(other.page, 'Size')).toBe('700 × 160');
    expect(await factOf(other.page, 'Format')).toBe('WebP');
    expect(await other.page.getByLabel('Quality').inputValue()).toBe('40');
    expect(await other.page.locator('#channel-title').innerText()).toBe('Nightglass');
    await expect.poll(() => other.page.locator('.device .banner img').count()).toBe(4);
  });

  test('changes with Back and Forward without further requests', async () => {
    const { page, asked } = await visitPlayground(used);
    await page.getByRole('link', { name: 'Nightglass' }).click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    await page.locator('#variants').getByText('Phone').click();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 350');
    await expect.poll(() => asked.length).toBe(4);
    await page.goBack();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(await page.getByRole('radio', { name: 'TV' }).isChecked()).toBe(true);
    await page.goBack();
    await expect.poll(() => page.locator('#gallery').isVisible()).toBe(true);
    expect(await page.locator('#channel').isVisible()).toBe(false);
    await page.goForward();
    await page.goForward();
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 350');
    expect(asked).toHaveLength(4);
  });

  test('of the former form still works', async () => {
    const { page } = await visitPlayground(used, '#@nightglass');
    await expect.poll(() => page.locator('#channel-title').innerText()).toBe('Nightglass');
    expect(new URL(page.url()).search + new URL(page.url()).hash).toBe('?channel=@nightglass');
  });

  test('can name another instance', async () => {
    const other = await startBrowsedService();
    onTestFinished(() => other.close());
    const { page, lookUp } = await visitPlayground(used);
    const field = await openInstance(page);
    await field.fill(`${other.publicOrigin}/`);
    await field.press('Enter');
    await lookUp('@nightglass');
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    expect(page.url()).toContain(`?channel=@nightglass&instance=${other.publicOrigin.replace(/:(?=\d)/, '%3A')}`);
    expect(await page.locator('#image-url').innerText()).toContain(other.publicOrigin);
    await page.goBack();
    await page.goBack();
    await expect.poll(() => field.inputValue()).toBe(used.service.publicOrigin);
    expect(await field.isVisible()).toBe(false);
  });
});

describe.skipIf(!hasBrowser)('the instance field', () => {
  test('accepts only origins and explains what is wrong with other texts', async () => {
    const { page, asked } = await visitPlayground(used, `?channel=${SAMPLE}`);
    await expect.poll(() => factOf(page, 'Size')).toBe('1280 × 720');
    const field = await openInstance(page);
    const fault = page.locator('#instance-fault');
    await field.fill('https://me:secret@pennant.example');
    await field.press('Enter');
    await expect.poll(() => fault.innerText()).toContain('Pennant has no login');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(asked).toHaveLength(3);
    await field.fill(UNREACHABLE);
    await field.press('Enter');
    await expect.poll(() => page.locator('#notice').innerText()).toContain('127.0.0.1:9 cannot be reached');
    expect(await fault.innerText()).toBe('');
    expect(await page.locator('#channel').isVisible()).toBe(false);
  });
});

function shadeOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as { getComputedStyle(of: unknown): { backgroundImage: string } };
  return getComputedStyle(element).backgroundImage;
}
