import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { memoryStore } from '../../test/helpers/read-through.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, type CacheOutcome } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { FileClass } from '../image-store/file-names.ts';
import type { ImageCache } from '../image-store/images.ts';
import type { EndReason } from '../images/encoder/child.ts';
import type { EncodeJob, OriginalBytes } from '../images/encoder/job.ts';
import { createChanges } from '../store/changes.ts';
import type { Original } from './cache-policy.ts';
import { type BannerService, createBannerService, type Image, type ImageRequest } from './images.ts';
import { createReEncoding } from './re-encoding.ts';

const FAST = Buffer.from('the fast encoding');
const SMALL = Buffer.from('small');
const CHANNEL_ID = numberedChannelId(1);
const ORIGINAL: Original = {
  refKey: 'ref',
  digest: '0123',
  firstStoredAtMs: 123_000,
  width: 800,
  height: 800,
  format: 'jpeg',
  hasAlpha: false,
  isWebReady: true,
};
const RECORD_OUTCOME: CacheOutcome = { kind: 'hit', ttlMs: 1, isCollapsed: false, isStored: false };
const ORIGINAL_OUTCOME: CacheOutcome = { kind: 'miss', ttlMs: 2, isCollapsed: false, isStored: true };
const WAITING = { client: 'client', disconnectSignal: () => new AbortController().signal };

const clock = createManualClock();
let store: ReturnType<typeof memoryStore>;
let images: Map<string, Buffer>;
/** The keys of all stored images. */
let fileClasses: FileClass[];
/** The results of the next re-encodes, in order. Without any, they succeed. */
let outcomes: (() => Promise<Buffer | undefined>)[];
let readOriginal: () => Promise<OriginalBytes>;
let readBytes: () => Promise<Buffer>;
/** Creates the encoding that a client waits for. */
let encode: (job: EncodeJob) => Promise<Buffer>;
let attempts: number;
let errors: unknown[];
let original: Original;
let banners: BannerService;

beforeEach(() => {
  store = memoryStore();
  images = new Map();
  fileClasses = [];
  outcomes = [];
  readOriginal = async () => ({ bytes: Buffer.from('original') });
  readBytes = unused;
  encode = async () => FAST;
  attempts = 0;
  errors = [];
  original = ORIGINAL;
  start();
});

/** Like a restart of the process, which keeps stored values. */
function start(): void {
  const changes = createChanges();
  const runtime = createTestRuntime({ clock });
  runtime.failureLog.report = ({ fields }) => errors.push(fields) > 0;
  const ref = { kind: 'remote', key: 'ref', urls: [] } as const;
  banners = createBannerService({
    channels: {
      findChannel: async () => ({
        channel: { channelId: CHANNEL_ID, avatar: ref, banner: null } as unknown as Channel,
        outcome: RECORD_OUTCOME,
      }),
    },
    originals: {
      get: async () => ({ value: original, outcome: ORIGINAL_OUTCOME, isCurrent: true }),
      readBytes: () => readBytes(),
      read: () => readOriginal(),
    },
    encoder: {
      encode: (job) => encode(job),
      async reencode() {
        attempts += 1;
        return (outcomes.shift() ?? (async () => SMALL))();
      },
    },
    images: {
      get: async (key: string) => images.get(key),
      put(key: string, bytes: Buffer, fileClass: FileClass) {
        images.set(key, bytes);
        fileClasses.push(fileClass);
      },
    } as unknown as ImageCache,
    changes,
    reEncoding: createReEncoding({ changes, store, runtime }),
    runtime,
  });
}

function getImage(request: Partial<ImageRequest> = {}): Promise<Image> {
  const refs = [channelIdRef(CHANNEL_ID)];
  const noSize = { width: undefined, height: undefined, quality: undefined };
  return banners.getImage({ refs, variant: 'avatar', formats: ['webp'], ...noSize, ...request });
}

async function ask(request: Partial<ImageRequest> = {}): Promise<Buffer> {
  const { render } = await getImage(request);
  const { bytes } = await render(WAITING);
  // Wait until the work that the response has started is done.
  await new Promise((resolve) => setImmediate(resolve));
  return bytes;
}

async function unused(): Promise<never> {
  throw new Error('is not asked for');
}

async function askTimes(count: number): Promise<Buffer[]> {
  const responses: Buffer[] = [];
  for (let asked = 0; asked < count; asked += 1) responses.push(await ask());
  return responses;
}

/** Requests the image until the next response starts a re-encode, and gets that response. */
async function askUntilDue(): Promise<void> {
  await askTimes(3);
  clock.advance(60_000);
  await ask();
}

const ended = (reason: EndReason) => async () => {
  throw new AppError('overloaded', 'The image could not be encoded.', {
    scope: reason === 'preempted' ? 'upstream' : 'key',
  });
};

describe('an image that is requested often', () => {
  it('is sent with the optimized encoding once that is stored', async () => {
    await askUntilDue();
    expect(await ask()).toEqual(SMALL);
  });

  it.each(['deadline', 'crash'] as const)('is re-encoded only once if that ends with a %s', async (reason) => {
    outcomes = [ended(reason)];
    await askUntilDue();
    for (let minute = 0; minute < 30; minute += 1) {
      clock.advance(60_000);
      await ask();
    }
    expect(attempts).toBe(1);
    expect(errors).toHaveLength(1);

    start();
    await askUntilDue();
    expect(attempts).toBe(1);
  });

  it('is re-encoded with the next response after the encoder was needed for a waiting client', async () => {
    outcomes = [ended('preempted'), async () => Promise.reject(new AppError('overloaded', 'The queue is full.'))];
    await askUntilDue();
    await askTimes(2);
    expect(attempts).toBe(3);
    expect(await ask()).toEqual(SMALL);
    expect(errors).toEqual([]);
  });

  it('is re-encoded later, but not at once, when its original cannot be loaded', async () => {
    await ask();
    let downloads = 0;
    readOriginal = async () => {
      downloads += 1;
      throw new AppError('upstream_unavailable', 'The image host refuses.');
    };
    await askUntilDue();
    await askTimes(20);
    expect([downloads, attempts]).toEqual([1, 0]);

    readOriginal = async () => ({ bytes: Buffer.from('original') });
    clock.advance(599_999);
    await ask();
    expect(attempts).toBe(0);
    clock.advance(1);
    await ask();
    expect(await ask()).toEqual(SMALL);
    expect(errors).toEqual([]);
  });
});

it('stores an image of a custom size as such, also when it is re-encoded', async () => {
  const own = { width: 799 };
  for (let asked = 0; asked < 3; asked += 1) await ask(own);
  clock.advance(60_000);
  await ask(own);
  expect(await ask(own)).toEqual(SMALL);
  expect(fileClasses).toEqual(['custom', 'custom']);
});

describe('an optimized encoding that was evicted', () => {
  it('is created again with the same effort if its ETag was already sent', async () => {
    await askUntilDue();
    const { render } = await getImage();
    const efforts: unknown[] = [];
    encode = async ({ effort }) => {
      efforts.push(effort);
      return SMALL;
    };
    images.clear();
    await render(WAITING);
    expect(efforts).toEqual(['optimized']);
  });

  it.each(['evicted', 'purged'])('is created again when it was %s', async (how) => {
    await askUntilDue();
    expect(await ask()).toEqual(SMALL);
    for (const key of images.keys()) if (how === 'purged' || key.endsWith('.refined')) images.delete(key);
    if (how === 'purged') store.entries.clear();
    expect(await ask()).toEqual(FAST);
    await askUntilDue();
    expect(attempts).toBe(2);
    expect(await ask()).toEqual(SMALL);
  });

  it('is not created again for a rarely requested image', async () => {
    await askUntilDue();
    for (const key of images.keys()) if (key.endsWith('.refined')) images.delete(key);
    expect(await askTimes(2)).toEqual([FAST, FAST]);
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(attempts).toBe(1);
  });
});

describe('an image with the whole original in the same format', () => {
  it('has a different ETag than the original itself', async () => {
    const sent = await getImage({ formats: ['jpeg'] });
    original = { ...ORIGINAL, isWebReady: false };
    const encoded = await getImage({ formats: ['jpeg'] });
    expect(encoded.etag).not.toBe(sent.etag);
    expect(encoded.earlierEtags).not.toContain(sent.etag);
  });
});

describe('an image whose encode crashes its process', () => {
  it('fails without another encode for some seconds, and is then retried', async () => {
    let encodes = 0;
    encode = async () => {
      encodes += 1;
      return ended('deadline')();
    };
    for (let asked = 0; asked < 5; asked += 1) await expect(ask()).rejects.toMatchObject({ code: 'overloaded' });
    expect(encodes).toBe(1);
    clock.advance(15_000);
    encode = async () => FAST;
    expect(await ask()).toEqual(FAST);
  });
});

describe('an original whose file is evicted or damaged', () => {
  it.each([
    ['evicted', Object.assign(new Error('no such file'), { code: 'ENOENT' })],
    ['damaged', new AppError('upstream_invalid', 'The original image cannot be decoded.')],
  ])('is read again when it is %s', async (_how, failure) => {
    readOriginal = async () => ({ path: '/gone' });
    readBytes = async () => Buffer.from('the original');
    encode = async ({ original }) => {
      if ('path' in original) throw failure;
      return original.bytes;
    };
    expect(await ask()).toEqual(Buffer.from('the original'));
  });
});

it.each<[Partial<ImageRequest>, string]>([
  [{}, 'plain'],
  [{ width: 800 }, 'plain'],
  [{ height: 800 }, 'plain'],
  [{ width: 4_096, height: 4_096 }, 'plain'],
  [{ quality: 82 }, 'plain'],
  [{ formats: ['png'], quality: 5 }, 'plain'],
  [{ width: 799 }, 'custom'],
  [{ height: 799 }, 'custom'],
  [{ width: 800, height: 400 }, 'custom'],
  [{ width: 400, height: 800 }, 'custom'],
  [{ quality: 81 }, 'custom'],
])('%o uses the space of the %s images', async (request, fileClass) => {
  await ask(request);
  expect(fileClasses).toEqual([fileClass]);
});

it('has the first accepted format, otherwise the format that suits the original', async () => {
  expect((await getImage({ formats: ['avif', 'webp'] })).format).toBe('avif');
  expect((await getImage({ formats: [] })).format).toBe('jpeg');
  original = { ...ORIGINAL, hasAlpha: true };
  expect((await getImage({ formats: [] })).format).toBe('png');
});

it('has the age of its original, not of the record', async () => {
  expect(await getImage()).toMatchObject({
    channelId: CHANNEL_ID,
    lastModifiedMs: 123_000,
    outcome: ORIGINAL_OUTCOME,
  });
});

it('that a channel does not have has the age of the record', async () => {
  await expect(getImage({ variant: 'tv' })).rejects.toMatchObject({
    code: 'image_not_found',
    outcome: RECORD_OUTCOME,
  });
});
