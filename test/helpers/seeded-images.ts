import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFormat } from '../../src/domain/formats.ts';

/** A text that no encoder writes, short enough for every place. */
export const SEED = Buffer.from('<Seed#7>');

/**
 * The images of a folder of the fixture, whose README says how they were made: `seeded` have the seed in the places where
 * their format can carry bytes without changing the image, `bare` have no bytes besides the image.
 */
export function readImages(folder: 'seeded' | 'bare') {
  const directory = join(import.meta.dirname, '../fixtures/seeded-images', folder);
  return readdirSync(directory).map((name) => ({
    name,
    format: name.split('.')[1] as SourceFormat,
    bytes: readFileSync(join(directory, name)),
  }));
}
