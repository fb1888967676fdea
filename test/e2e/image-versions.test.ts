import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { OriginalRef } from '../../src/domain/channel.ts';
import { startWithoutEncoder, type TestApp, useTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createStub, ID, record } from '../helpers/fake-source.ts';

const SAMPLE = 'UCPennantSample00000001A';
const BARE_SAMPLE = 'UCPennantSample00000002A';

interface ImageUrls {
  readonly bannerUrl: string | null;
  readonly avatarUrl: string | null;
  readonly bannerUrls: Record<string, string | null>;
}

const versionIn = (url: string | null | undefined) => new URL(String(url)).searchParams.get('v');
const startOfSha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex').slice(0, 8);

async function recordOf(service: TestApp, channelId: string): Promise<ImageUrls> {
  return (await service.get(`/api/channel/${channelId}`)).json();
}

describe('with IMAGE_VERSIONS=on', () => {
  const service = useTestApp({ encoder: createFakeEncoder(), env: { IMAGE_VERSIONS: 'on' } });

  test('every image URL of a record ends in a version, one for the banner and one for the avatar', async () => {
    const { bannerUrl, avatarUrl, bannerUrls } = await recordOf(service, SAMPLE);
    const banner = versionIn(bannerUrl);
    expect(banner).toMatch(/^[0-9a-f]{8}$/);
    expect(versionIn(avatarUrl)).toMatch(/^[0-9a-f]{8}$/);
    expect(versionIn(avatarUrl)).not.toBe(banner);
    const root = `http://pennant.test/api/banner/${SAMPLE}`;
    expect(bannerUrl).toBe(`${root}?v=${banner}`);
    expect(bannerUrls).toEqual({
      default: bannerUrl,
      tv: `${root}?type=tv&v=${banner}`,
      desktop: `${root}?type=desktop&v=${banner}`,
      tablet: `${root}?type=tablet&v=${banner}`,
      mobile: `${root}?type=mobile&v=${banner}`,
      avatar: avatarUrl,
    });
  });

  test('an image that the channel does not have is still null', async () => {
    const { bannerUrl, bannerUrls } = await recordOf(service, BARE_SAMPLE);
    expect([bannerUrl, bannerUrls.tv]).toEqual([null, null]);
  });

  test('a batch and search results have the same URLs as the record', async () => {
    const { bannerUrl, avatarUrl } = await recordOf(service, SAMPLE);
    const { results: batch } = (await service.get(`/api/channels?ids=${SAMPLE}`)).json<{
      results: { channel: object }[];
    }>();
    expect(batch[0]?.channel).toMatchObject({ bannerUrl, avatarUrl });
    for (const query of ['pennant sample', '@pennantsample']) {
      const found = await service.get(`/api/search?q=${encodeURIComponent(query)}&limit=1`);
      expect(found.json<{ results: object[] }>().results[0]).toMatchObject({ bannerUrl, avatarUrl });
    }
  });

  test('a URL with any version returns the image, from the same entry in every cache', async () => {
    const { avatarUrl } = await recordOf(service, SAMPLE);
    const path = String(avatarUrl).replace('http://pennant.test', '');
    const first = await service.get(path);
    expect(first.status).toBe(200);
    // A hit stays in the micro-cache for a second.
    const second = await service.get(`/api/banner/${SAMPLE}?v=00000000&type=avatar`);
    service.clock.advance(999);
    for (const query of ['type=avatar', 'type=avatar&v=', 'v&type=avatar', 'v=1&v=2&type=avatar']) {
      const other = await service.get(`/api/banner/${SAMPLE}?${query}`);
      expect([other.headers.etag, other.headers['cache-status']]).toEqual([
        first.headers.etag,
        second.headers['cache-status'],
      ]);
    }
  });
});

test('with URL_FORM=short, the version follows the path or the type', async () => {
  const service = await startWithoutEncoder({ env: { IMAGE_VERSIONS: 'on', URL_FORM: 'short' } });
  const { bannerUrl, avatarUrl, bannerUrls } = await recordOf(service, SAMPLE);
  const [banner, avatar] = [versionIn(bannerUrl), versionIn(avatarUrl)];
  expect(avatarUrl).toBe(`http://pennant.test/${SAMPLE}/avatar?v=${avatar}`);
  expect(bannerUrls).toMatchObject({
    tv: `http://pennant.test/${SAMPLE}/tv?v=${banner}`,
    desktop: `http://pennant.test/${SAMPLE}?type=desktop&v=${banner}`,
  });
});

test('the version of a remote image is made from its upstream URL, and changes with it', async () => {
  const image = (key: string): OriginalRef => ({ kind: 'remote', key, urls: [`${key}=s0`] });
  let banner = image('https://yt3.ggpht.com/first');
  const avatar = image('https://yt3.ggpht.com/avatar');
  const source = { ...createStub(), getChannel: async () => record({ banner, avatar }) };
  const service = await startWithoutEncoder({ sources: [source], env: { IMAGE_VERSIONS: 'on' } });
  const before = await recordOf(service, ID);
  expect(versionIn(before.bannerUrl)).toBe(startOfSha256('https://yt3.ggpht.com/first'));
  banner = image('https://yt3.ggpht.com/second');
  service.clock.advance(3_601_000);
  const after = await recordOf(service, ID);
  expect(versionIn(after.bannerUrl)).toBe(startOfSha256('https://yt3.ggpht.com/second'));
  expect(after.avatarUrl).toBe(before.avatarUrl);
});
