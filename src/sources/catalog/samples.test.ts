import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodePicture } from '../../../test/helpers/picture.ts';
import { SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { parseRecord } from './parse-record.ts';

const IMAGES_DIR = join(SHIPPED_SAMPLES_DIR, 'images');

async function readSamples() {
  const lines = await readFile(join(SHIPPED_SAMPLES_DIR, 'channels.ndjson'), 'utf8');
  return lines.trimEnd().split('\n').map(parseRecord);
}

async function sizeOf(fileName: string | null | undefined) {
  const { width, height } = await decodePicture(await readFile(join(IMAGES_DIR, String(fileName))));
  return { width, height };
}

describe('the sample catalog', () => {
  it('has at least six channels, and no picture that none of them uses', async () => {
    const samples = await readSamples();
    expect(samples.length).toBeGreaterThanOrEqual(6);
    const used = samples
      .flatMap(({ bannerFile, avatarFile }) => [bannerFile, avatarFile])
      .filter((name) => name !== null);
    expect((await readdir(IMAGES_DIR)).sort()).toEqual(used.sort());
  });

  it('has pictures under 300 KB', async () => {
    for (const name of await readdir(IMAGES_DIR)) {
      expect((await stat(join(IMAGES_DIR, name))).size, name).toBeLessThan(300_000);
    }
  });

  it('has one channel with everything', async () => {
    const sample = (await readSamples()).find(({ channelId }) => channelId === 'UCPennantSample00000001A');
    expect(sample).toMatchObject({ customUrl: '@pennantsample', username: 'pennantsample' });
    expect(Object.values(sample ?? {})).not.toContain(null);
    expect(sample?.links?.length).toBeGreaterThanOrEqual(2);
    expect(await sizeOf(sample?.bannerFile)).toEqual({ width: 2560, height: 1440 });
    expect(await sizeOf(sample?.avatarFile)).toEqual({ width: 800, height: 800 });
  });

  it('has one channel with little', async () => {
    const sample = (await readSamples()).find(({ channelId }) => channelId === 'UCPennantSample00000002A');
    expect(sample).toMatchObject({ bannerFile: null, subscriberCount: null, links: [], country: null });
    expect(await sizeOf(sample?.avatarFile)).toEqual({ width: 800, height: 800 });
  });

  it('has a handle beyond ASCII, an empty description and banners of several sizes', async () => {
    const samples = await readSamples();
    expect(samples.some(({ customUrl }) => /[^ -~]/.test(customUrl ?? ''))).toBe(true);
    expect(samples.some(({ description }) => description === '')).toBe(true);
    const banners = samples.map(({ bannerFile }) => bannerFile).filter((name) => name !== null);
    const widths = await Promise.all(banners.map(async (name) => (await sizeOf(name)).width));
    expect(new Set(widths)).toEqual(new Set([2560, 2048, 2120]));
  });
});
