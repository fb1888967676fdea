import { expect, onTestFinished, test } from 'vitest';
import { formatRow } from '../../src/domain/formats.ts';
import { startTestApp } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { readImages, SEED } from '../helpers/seeded-images.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/** Some places have no room for the whole text. */
const SHORTEST_SEED = SEED.subarray(0, 4);
/** Decoders refuse these, so none of their bytes are sent. */
const REFUSED = ['arithmetic-conditioning.jpeg', 'a-reserved-segment.jpeg'];

test('no byte of an original is sent unless it is part of the image', async () => {
  const images = readImages('seeded');
  expect(images.length).toBeGreaterThan(50);
  const dataDir = await createTemporaryDirectory();
  const files = Object.fromEntries(images.map(({ bytes }, number) => [`${number}.bin`, bytes]));
  const lines = images.map((_, number) => catalogLine(number, { avatarFile: `${number}.bin` }));
  expect((await importLines(dataDir, lines, await writeImages(dataDir, files))).refusals).toEqual([]);
  const service = await startTestApp({ dataDir });
  onTestFinished(() => service.close());

  for (const [number, { name, format }] of images.entries()) {
    const extension = format === 'gif' ? 'png' : formatRow(format).extension;
    const { status, bytes } = await service.get(`/${numberedChannelId(number)}/avatar.${extension}`);
    expect([name, bytes.includes(SHORTEST_SEED)]).toEqual([name, false]);
    expect([name, status]).toEqual([name, REFUSED.includes(name) ? 502 : 200]);
  }
});
