import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OWN_WORK } from '../../src/lib/work.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { respondWithBytes } from '../helpers/fake-upstream.ts';
import { drawTestCard } from '../helpers/test-card.ts';
import { startYoutubeForTest } from '../helpers/youtube-service.ts';

const ID = 'UCreplayLighthouse000001';

const encoder = sharedEncoder();

/** Changes one byte, so that the file can still be decoded. */
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] as number) ^ 0x10;
  await writeFile(path, bytes);
}

test('no image is made from the file of an original that has changed on the disk', async () => {
  const size = { width: 400, height: 400 };
  const bytes = await drawTestCard(size).jpeg().toBuffer();
  const { service } = await startYoutubeForTest({ image: respondWithBytes(bytes) }, { encoder });
  await service.get(`/${ID}/avatar`);
  await service.untilImagesWritten();
  const files = join(service.dataDir, 'images.db-files');
  const [name = ''] = await readdir(files);
  await damage(join(files, name));

  const crop = { left: 0, top: 0, ...size };
  const job = {
    original: { bytes },
    originalSize: size,
    crop,
    output: size,
    format: 'png',
    quality: undefined,
  } as const;
  const expected = await encoder.encode(job, { signal: new AbortController().signal, client: OWN_WORK });
  const made = await service.get(`/${ID}/avatar.png`);
  expect(made.status).toBe(200);
  expect(made.bytes.equals(expected)).toBe(true);
});
