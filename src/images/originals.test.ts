import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { CACHE_POLICY, type Original } from '../cache/policy.ts';
import type { Channel, OriginalRef, RemoteImage } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { createOriginals, type Originals } from './originals.ts';

const HOUR_MS = 3_600_000;
const OLD: RemoteImage = { kind: 'remote', key: 'old', urls: ['https://yt3.ggpht.com/old'] };
const NEW: RemoteImage = { kind: 'remote', key: 'new', urls: ['https://yt3.ggpht.com/new'] };

let clock: ManualClock;
let store: ReturnType<typeof memoryStore>;
let images: Map<string, Buffer>;
/** True: a file that an encoder is to read no longer exists. */
let isErasedWhileRead: boolean;
let downloads: Map<string, PromiseWithResolvers<Buffer>>;
/** Keys of the requested images, in order. */
let asked: string[];
let originals: Originals;

beforeEach(() => {
  clock = createManualClock();
  store = memoryStore();
  images = new Map();
  isErasedWhileRead = false;
  downloads = new Map();
  asked = [];
  start();
});

/** Like a restart of the process, which keeps stored values. */
function start(): void {
  originals = createOriginals({
    catalog: undefined,
    downloader: {
      download(ref) {
        asked.push(ref.key);
        return downloadOf(ref).promise;
      },
    },
    encoder: {
      warmUp: () => undefined,
      async inspect(read) {
        if ('path' in read) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
        return { width: 900, height: 900, format: 'jpeg', hasAlpha: false };
      },
    },
    images: {
      async findOriginal({ digest }) {
        const bytes = images.get(digest);
        return bytes && { bytes };
      },
      async putOriginal({ digest }, bytes) {
        if (isErasedWhileRead) return { path: '/erased', digest };
        images.set(digest, bytes);
        return { bytes };
      },
      async discardOriginal({ digest }) {
        images.delete(digest);
      },
    },
    cache: testCache<Original>(
      { isValue: CACHE_POLICY.originals.isValue, freshMs: 24 * HOUR_MS, graceMs: 168 * HOUR_MS },
      { store, clock },
    ),
    channels: { reload: async () => channelWith(NEW) },
    runtime: createTestRuntime({ clock }),
  });
}

/** A download that ends when the test says so. */
function downloadOf({ key }: OriginalRef): PromiseWithResolvers<Buffer> {
  const download = downloads.get(key) ?? Promise.withResolvers<Buffer>();
  downloads.set(key, download);
  return download;
}

function channelWith(avatar: OriginalRef): Channel {
  return { channelId: 'UCoriginals____________A', avatar } as Channel;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('an image whose URL changes while the old one is downloaded', () => {
  it('is downloaded from the new URL, and the old one does not replace it', async () => {
    const before = originals.get(channelWith(OLD), 'avatar');
    await settled();
    const after = originals.get(channelWith(NEW), 'avatar');
    downloadOf(NEW).resolve(Buffer.from('new image'));
    expect((await after).value).toMatchObject({ refKey: 'new', digest: digestOf('new image') });

    downloadOf(OLD).resolve(Buffer.from('old image'));
    expect((await before).value.digest).toBe(digestOf('old image'));
    expect((await originals.get(channelWith(NEW), 'avatar')).outcome.kind).toBe('hit');
    start();
    expect((await originals.get(channelWith(NEW), 'avatar')).value.digest).toBe(digestOf('new image'));
  });

  it('does not fail because the old one fails', async () => {
    const before = originals.get(channelWith(OLD), 'avatar');
    await settled();
    const after = originals.get(channelWith(NEW), 'avatar');
    downloadOf(OLD).reject(new AppError('upstream_unavailable', 'The image host refuses.'));
    await expect(before).rejects.toMatchObject({ code: 'upstream_unavailable' });
    downloadOf(NEW).resolve(Buffer.from('new image'));
    expect((await after).value.digest).toBe(digestOf('new image'));
  });

  it('is downloaded once for concurrent requests for the new URL', async () => {
    const before = originals.get(channelWith(OLD), 'avatar');
    await settled();
    const after = [1, 2, 3].map(() => originals.get(channelWith(NEW), 'avatar'));
    downloadOf(OLD).resolve(Buffer.from('old image'));
    await before;
    downloadOf(NEW).resolve(Buffer.from('new image'));
    const responses = await Promise.all(after);
    expect(responses.map(({ outcome }) => outcome.isCollapsed)).toEqual([false, true, true]);
  });
});

describe('a purge while an original is downloaded', () => {
  it('may erase its file before an encoder has read it', async () => {
    isErasedWhileRead = true;
    const found = originals.get(channelWith(OLD), 'avatar');
    await settled();
    downloadOf(OLD).resolve(Buffer.from('bytes'));
    expect((await found).value.width).toBe(900);
  });
});

describe('an image whose URL changes after a reload of the old one failed', () => {
  it('is downloaded from the new URL at once', async () => {
    downloadOf(OLD).resolve(Buffer.from('old image'));
    await originals.get(channelWith(OLD), 'avatar');
    clock.advance(24 * HOUR_MS);
    downloads.clear();
    downloadOf(OLD).reject(new AppError('upstream_unavailable', 'The image host refuses.'));
    expect((await originals.get(channelWith(OLD), 'avatar')).outcome.kind).toBe('stale');

    downloadOf(NEW).resolve(Buffer.from('new image'));
    expect((await originals.get(channelWith(NEW), 'avatar')).value.digest).toBe(digestOf('new image'));
  });
});

describe('the time when an original was first stored', () => {
  it('stays while the same bytes are reloaded, and changes with the bytes', async () => {
    const firstMs = clock.now();
    downloadOf(OLD).resolve(Buffer.from('image'));
    const storedAtMs = async (ref: OriginalRef) =>
      (await originals.get(channelWith(ref), 'avatar')).value.firstStoredAtMs;
    await storedAtMs(OLD);
    for (const day of [1, 2]) {
      clock.advance(24 * HOUR_MS);
      expect([day, await storedAtMs(OLD)]).toEqual([day, firstMs]);
      expect(asked).toHaveLength(1 + day);
    }
    downloadOf(NEW).resolve(Buffer.from('image'));
    expect(await storedAtMs(NEW)).toBe(firstMs);

    clock.advance(24 * HOUR_MS);
    downloads.delete('new');
    downloadOf(NEW).resolve(Buffer.from('another image'));
    expect(await storedAtMs(NEW)).toBe(clock.now());
  });

  it('is never in the future', async () => {
    const startMs = clock.now();
    clock.jumpWallClock(72 * HOUR_MS);
    downloadOf(OLD).resolve(Buffer.from('image'));
    await originals.get(channelWith(OLD), 'avatar');
    clock.jumpWallClock(-72 * HOUR_MS);
    expect((await originals.get(channelWith(OLD), 'avatar')).value.firstStoredAtMs).toBe(startMs);
  });

  it('is never in the future for a reloaded image', async () => {
    clock.jumpWallClock(72 * HOUR_MS);
    downloadOf(OLD).resolve(Buffer.from('image'));
    await originals.get(channelWith(OLD), 'avatar');
    clock.jumpWallClock(-72 * HOUR_MS);
    clock.advance(25 * HOUR_MS);
    const { value, outcome } = await originals.get(channelWith(OLD), 'avatar');
    expect(outcome.kind).toBe('refreshed');
    expect(value.firstStoredAtMs).toBe(clock.now());
  });
});

describe('an original whose file cannot be read', () => {
  it('is downloaded again, once for concurrent requests', async () => {
    downloadOf(OLD).resolve(Buffer.from('image'));
    const { value } = await originals.get(channelWith(OLD), 'avatar');
    downloads.clear();
    const reads = [1, 2, 3].map(() => originals.readAgain(channelWith(OLD), 'avatar', value));
    await settled();
    expect(asked).toEqual(['old', 'old']);
    downloadOf(OLD).resolve(Buffer.from('image'));
    expect(await Promise.all(reads)).toEqual(Array(3).fill(Buffer.from('image')));
    expect(await originals.read(channelWith(OLD), 'avatar', value)).toEqual({ bytes: Buffer.from('image') });
  });

  it('matches the metadata, or the client gets an error that asks it to retry', async () => {
    downloadOf(OLD).resolve(Buffer.from('image'));
    const { value } = await originals.get(channelWith(OLD), 'avatar');
    downloads.clear();
    downloadOf(OLD).resolve(Buffer.from('another image'));
    await expect(originals.readAgain(channelWith(OLD), 'avatar', value)).rejects.toMatchObject({
      code: 'upstream_unavailable',
    });
    const { value: current } = await originals.get(channelWith(OLD), 'avatar');
    expect(await originals.read(channelWith(OLD), 'avatar', current)).toEqual({ bytes: Buffer.from('another image') });
  });

  it('is downloaded from the URL of a newer record when it is gone', async () => {
    downloadOf(OLD).resolve(Buffer.from('image'));
    const { value } = await originals.get(channelWith(OLD), 'avatar');
    downloads.clear();
    downloadOf(OLD).reject(new AppError('image_not_found', 'The image is gone.'));
    downloadOf(NEW).resolve(Buffer.from('image'));
    expect(await originals.readAgain(channelWith(OLD), 'avatar', value)).toEqual(Buffer.from('image'));
  });
});
