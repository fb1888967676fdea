import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { catalogLine, importLines, pngOf, writeImages } from '../../../test/helpers/catalog.ts';
import { createFifo, createTemporaryDirectory } from '../../../test/helpers/temporary-directory.ts';
import { SHIPPED_SAMPLES_DIR } from './catalog.ts';
import { createCatalogFile } from './new-catalog.ts';
import { parseRecord } from './record.ts';
import { catalogPaths } from './schema.ts';

const IMAGES_DIR = join(SHIPPED_SAMPLES_DIR, 'images');

async function readSamples() {
  const lines = await readFile(join(SHIPPED_SAMPLES_DIR, 'channels.ndjson'), 'utf8');
  return lines.trimEnd().split('\n').map(parseRecord);
}

async function sizeOf(fileName: string | null | undefined) {
  const { width, height } = await sharp(join(IMAGES_DIR, String(fileName))).metadata();
  return { width, height };
}

describe('the sample catalog', () => {
  it('has at least six channels and no unused images', async () => {
    const samples = await readSamples();
    expect(samples.length).toBeGreaterThanOrEqual(6);
    const used = samples
      .flatMap(({ bannerFile, avatarFile }) => [bannerFile, avatarFile])
      .filter((name) => name !== null);
    expect((await readdir(IMAGES_DIR)).sort()).toEqual(used.sort());
  });

  it('has images under 300 KB', async () => {
    for (const name of await readdir(IMAGES_DIR)) {
      expect((await stat(join(IMAGES_DIR, name))).size, name).toBeLessThan(300_000);
    }
  });

  it('has one channel with all fields', async () => {
    const sample = (await readSamples()).find(({ channelId }) => channelId === 'UCPennantSample00000001A');
    expect(sample).toMatchObject({ customUrl: '@pennantsample', username: 'pennantsample' });
    expect(Object.values(sample ?? {})).not.toContain(null);
    expect(sample?.links?.length).toBeGreaterThanOrEqual(2);
    expect(await sizeOf(sample?.bannerFile)).toEqual({ width: 2560, height: 1440 });
    expect(await sizeOf(sample?.avatarFile)).toEqual({ width: 800, height: 800 });
  });

  it('has one channel with few fields', async () => {
    const sample = (await readSamples()).find(({ channelId }) => channelId === 'UCPennantSample00000002A');
    expect(sample).toMatchObject({ bannerFile: null, subscriberCount: null, links: [], country: null });
    expect(await sizeOf(sample?.avatarFile)).toEqual({ width: 800, height: 800 });
  });

  it('has a non-ASCII handle, an empty description and banners of several sizes', async () => {
    const samples = await readSamples();
    expect(samples.some(({ customUrl }) => /[^ -~]/.test(customUrl ?? ''))).toBe(true);
    expect(samples.some(({ description }) => description === '')).toBe(true);
    const banners = samples.map(({ bannerFile }) => bannerFile).filter((name) => name !== null);
    const widths = await Promise.all(banners.map(async (name) => (await sizeOf(name)).width));
    expect(new Set(widths)).toEqual(new Set([2560, 2048, 2120]));
  });
});

/** Samples with records from a pipe, so that a test decides when the catalog is complete. */
async function createHeldSamples() {
  const pipe = await createFifo('channels.ndjson');
  const samplesDir = dirname(pipe);
  await cp(IMAGES_DIR, join(samplesDir, 'images'), { recursive: true });
  return {
    samplesDir,
    /** Resolves after the reader has begun. */
    write: async (text: string) => await writeFile(pipe, text),
  };
}

describe('a catalog created from samples', () => {
  // Windows has no named pipes in directories.
  it.skipIf(process.platform === 'win32')('is discarded with its images when an import was faster', async () => {
    const dataDir = await createTemporaryDirectory();
    const paths = catalogPaths(dataDir);
    const samples = await createHeldSamples();
    const created = createCatalogFile({ dataDir, samplesDir: samples.samplesDir });
    const images = await writeImages(await createTemporaryDirectory(), { 'own.png': pngOf('own') });
    expect((await importLines(dataDir, [catalogLine(1, { avatarFile: 'own.png' })], images)).added).toBe(1);
    const imported = await readdir(paths.images);
    expect(imported).toHaveLength(1);
    await samples.write(await readFile(join(SHIPPED_SAMPLES_DIR, 'channels.ndjson'), 'utf8'));
    await created;
    expect(await readdir(paths.images)).toEqual(imported);
    expect((await readdir(dataDir)).filter((name) => name.startsWith('catalog.new-'))).toEqual([]);
  });

  it('keeps its images when an import comes later', async () => {
    const dataDir = await createTemporaryDirectory();
    const paths = catalogPaths(dataDir);
    await createCatalogFile({ dataDir, samplesDir: SHIPPED_SAMPLES_DIR });
    const before = await readdir(paths.images);
    await importLines(dataDir, [catalogLine(1)]);
    expect(await readdir(paths.images)).toEqual(before);
    expect(before).toHaveLength((await readdir(IMAGES_DIR)).length);
  });

  it('leaves no files when a sample is rejected', async () => {
    const dataDir = await createTemporaryDirectory();
    const samplesDir = await createTemporaryDirectory();
    await mkdir(join(samplesDir, 'images'));
    await writeFile(join(samplesDir, 'images', 'own.png'), pngOf('own'));
    const lines = [catalogLine(1, { avatarFile: 'own.png' }), catalogLine(2, { avatarFile: 'absent.png' })];
    await writeFile(join(samplesDir, 'channels.ndjson'), lines.join('\n'));
    await expect(createCatalogFile({ dataDir, samplesDir })).rejects.toThrow('line 2');
    expect(await readdir(dataDir)).toEqual([]);
  });
});
