import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { testCache } from '../../test/helpers/read-through.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import type { CatalogImage, Channel } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { type JobOptions, MAX_ORIGINAL_PIXELS, type OriginalBytes } from '../images/encoder/job.ts';
import { CACHE_POLICY, type Original } from './cache-policy.ts';
import { createOriginals, type Originals } from './originals.ts';

/* The catalog changes between the look-up of a channel and the reading of its image. */

const BEFORE = imageNamed('0'.repeat(32));
const AFTER = imageNamed('1'.repeat(32));
const INFO = { width: 64, height: 64, format: 'png', hasAlpha: false } as const;

let directory: string;
let originals: Originals;
/** The stored metadata. */
let stored: Map<string, Buffer>;
/** By which each inspection was scheduled. */
let statedPixels: (number | undefined)[];
/** What the catalog does when its record is read again. */
let changed: () => Promise<Channel>;
/** The image when the request began. */
let original: Original;

beforeEach(async () => {
  directory = await createTemporaryDirectory();
  statedPixels = [];
  stored = new Map();
  changed = async () => channelWith(BEFORE);
  const clock = createManualClock();
  originals = createOriginals({
    ownImagesDir: directory,
    downloader: { download: () => Promise.reject(new Error('not downloaded')) },
    encoder: { warmUp: () => undefined, inspect },
    images: {
      get: async (key) => stored.get(key),
      findForReading: async () => undefined,
      put: (key, bytes) => void stored.set(key, bytes),
    },
    cache: testCache<Original>(CACHE_POLICY.originals, { clock }),
    channels: { reload: () => changed() },
    runtime: createTestRuntime({ clock }),
  });
  await write(BEFORE);
  original = (await originals.get(channelWith(BEFORE), 'avatar')).value;
});

async function inspect(_original: OriginalBytes, options: JobOptions) {
  statedPixels.push(options.statedPixels);
  return INFO;
}

function imageNamed(digest: string): CatalogImage {
  return { kind: 'catalog-file', key: `catalog:${digest}`, fileName: `${digest}.png`, importedAtMs: 0 };
}

function channelWith(avatar: CatalogImage): Channel {
  return { channelId: 'UCoriginals____________A', avatar } as Channel;
}

const pathOf = ({ fileName }: CatalogImage) => join(directory, fileName);
const write = (image: CatalogImage, bytes: string | Buffer = 'bytes') => writeFile(pathOf(image), bytes);
const remove = () => rm(pathOf(BEFORE));
const readBoth = () =>
  Promise.allSettled([
    originals.read(channelWith(BEFORE), 'avatar', original),
    originals.readBytes(channelWith(BEFORE), 'avatar', original),
  ]);

describe('an image whose file is gone when it is read', () => {
  beforeEach(remove);

  it('is read from the record of a channel that was removed and imported again', async () => {
    changed = async () => {
      await write(BEFORE);
      return channelWith(BEFORE);
    };
    await expect(originals.read(channelWith(BEFORE), 'avatar', original)).resolves.toEqual({ path: pathOf(BEFORE) });
    await remove();
    await expect(originals.readBytes(channelWith(BEFORE), 'avatar', original)).resolves.toEqual(Buffer.from('bytes'));
  });

  it('is "no such channel" if the channel was removed', async () => {
    const gone = new AppError('channel_not_found', 'The catalog has no such channel.');
    changed = () => Promise.reject(gone);
    for (const outcome of await readBoth()) expect(outcome).toEqual({ status: 'rejected', reason: gone });
  });

  it('has just changed if the channel has another image now', async () => {
    changed = async () => {
      await write(AFTER);
      return channelWith(AFTER);
    };
    for (const outcome of await readBoth()) {
      expect(outcome).toMatchObject({ reason: { code: 'upstream_unavailable', retryAfterMs: 1_000 } });
    }
  });

  it('is an error if the catalog still names it', async () => {
    await mkdir(pathOf(BEFORE));
    for (const outcome of await readBoth()) expect(outcome).toMatchObject({ reason: { code: 'upstream_invalid' } });
  });
});

test.each([
  ['the pixels that the header states', Buffer.from('47494638396100012c01'.padEnd(60, '0'), 'hex'), 256 * 300],
  ['the pixels of the largest image, if the header cannot be read', Buffer.from('bytes'), MAX_ORIGINAL_PIXELS],
])('an inspection is scheduled by %s', async (_which, bytes, pixels) => {
  await write(AFTER, bytes);
  await originals.get(channelWith(AFTER), 'avatar');
  expect(statedPixels.at(-1)).toBe(pixels);
});

test('an image is inspected once, and again if its stored metadata is not of the form of this version', async () => {
  const sizeOf = async () => {
    const { width, height } = (await originals.get(channelWith(BEFORE), 'avatar')).value;
    return [width, height, statedPixels.length];
  };
  expect(await sizeOf()).toEqual([64, 64, 1]);
  const [[key = '', metadata = Buffer.alloc(0)] = []] = stored;
  for (const [at, other] of ['', '{}', metadata.toString().replace('64', '0')].entries()) {
    stored.set(key, Buffer.from(other));
    expect(await sizeOf()).toEqual([64, 64, 2 + at]);
    expect(stored.get(key)).toEqual(metadata);
  }
});
