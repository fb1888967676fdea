import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel, RemoteImage } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { ImageClass } from '../image-store/schema.ts';
import type { EndReason } from '../images/encoder/child.ts';
import type { EncodeJob, OriginalBytes } from '../images/encoder/job.ts';
import { createEpochs } from '../lib/epoch.ts';
import { type ClientKeys, withRequest } from '../lib/work.ts';
import type { Original } from './cache-policy.ts';
import { createImageService, type Image, type ImageRequest, type ImageService } from './images.ts';
import { createReEncoding } from './re-encoding.ts';

const FAST = Buffer.from('the fast encoding');
const SMALL = Buffer.from('small');
const CHANNEL_ID = numberedChannelId(1);
const STORED = { refKey: 'ref', digest: '0123', firstStoredAtMs: 123_000 };
const ORIGINAL: Original = { ...STORED, width: 800, height: 800, format: 'jpeg', hasAlpha: false };
const IMAGE: RemoteImage = { kind: 'remote', key: 'ref', urls: [] };
const RECORD_OUTCOME: CacheOutcome = { kind: 'hit', ttlMs: 1, isCollapsed: false, isStored: false };
const ORIGINAL_OUTCOME: CacheOutcome = { kind: 'miss', ttlMs: 2, isCollapsed: false, isStored: true };
const WAITING = { client: clientOf('client'), disconnectSignal: () => new AbortController().signal };

const clock = createManualClock();
let images: Map<string, Buffer>;
/** The keys of all stored images. */
let imageClasses: ImageClass[];
/** The results of the next re-encodes, in order. Without any, they succeed. */
let outcomes: (() => Promise<Buffer>)[];
let readOriginal: () => Promise<OriginalBytes>;
let readBytes: () => Promise<Buffer>;
/** Creates the encoding that a client waits for. */
let encode: (job: EncodeJob) => Promise<Buffer>;
let attempts: number;
/** The clients that the re-encodes are charged to. */
let charged: ClientKeys[];
let errors: unknown[];
let original: Original;
let banner: RemoteImage | null;
let service: ImageService;

beforeEach(() => {
  images = new Map();
  imageClasses = [];
  outcomes = [];
  readOriginal = async () => ({ bytes: Buffer.from('original') });
  readBytes = unused;
  encode = async () => FAST;
  attempts = 0;
  charged = [];
  errors = [];
  original = ORIGINAL;
  banner = null;
  start();
});

/** Like a restart of the process, which keeps stored images. */
function start(): void {
  const runtime = createTestRuntime({ clock });
  runtime.failureLog.report = ({ fields }) => errors.push(fields) > 0;
  service = createImageService({
    channels: {
      getChannel: async () => ({
        channel: { channelId: CHANNEL_ID, avatar: IMAGE, banner } as unknown as Channel,
        outcome: RECORD_OUTCOME,
      }),
    },
    originals: {
      get: async (channel) => ({ channel, value: original, outcome: ORIGINAL_OUTCOME, isCurrent: true }),
      readBytes: () => readBytes(),
      read: () => readOriginal(),
    },
    encoder: {
      libraryVersion: '01234567',
      async encode(job, { priority, client }) {
        if (priority !== 'background') return encode(job);
        attempts += 1;
        charged.push(client);
        return (outcomes.shift() ?? (async () => SMALL))();
      },
    },
    images: {
      get: async (key) => images.get(key),
      put(key, bytes, imageClass) {
        images.set(key, bytes);
        imageClasses.push(imageClass);
      },
    },
    reEncoding: createReEncoding({ runtime }),
    runtime,
  });
}

function getImage(request: Partial<ImageRequest> = {}): Promise<Image> {
  const refs = [channelIdRef(CHANNEL_ID)];
  const noSize = { width: undefined, height: undefined, quality: undefined };
  return service.getImage({ refs, variant: 'avatar', formats: ['webp'], ...noSize, ...request });
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

const MIN_AGE_MS = 20_000;

/** Requests a new image until a response starts a re-encode, and gets that response. */
async function askUntilDue(request: Partial<ImageRequest> = {}): Promise<void> {
  await ask(request);
  clock.advance(MIN_AGE_MS);
  await ask(request);
}

const ended = (reason: EndReason) => async () => {
  throw new AppError('overloaded', 'The image could not be encoded.', {
    scope: reason === 'preempted' ? 'upstream' : 'key',
  });
};

describe('an image that is requested again', () => {
  it('is sent with the smaller encoding once that is stored, under an ETag of its own', async () => {
    const { etag } = await getImage();
    await askUntilDue();
    expect(await ask()).toEqual(SMALL);
    expect((await getImage()).etag).not.toBe(etag);
  });

  it('is re-encoded by the first request after 20 s, and not before', async () => {
    for (let asked = 0; asked < 5; asked += 1) await ask();
    clock.advance(MIN_AGE_MS - 1);
    await ask();
    expect(attempts).toBe(0);
    clock.advance(1);
    await ask();
    expect(attempts).toBe(1);
  });

  it('is re-encoded although the clients only confirm their copies', async () => {
    await ask();
    clock.advance(MIN_AGE_MS);
    await getImage();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask()).toEqual(SMALL);
  });

  it.each([
    ['larger', Buffer.alloc(100)],
    ['of the same size', Buffer.alloc(FAST.length)],
  ])('keeps its encoding if the other one is %s, and is not re-encoded again', async (_what, bytes) => {
    outcomes = [async () => bytes];
    await askUntilDue();
    clock.advance(MIN_AGE_MS);
    expect(await ask()).toEqual(FAST);
    expect(attempts).toBe(1);
  });

  it.each([
    ['a deadline', ended('deadline')],
    ['a crash', ended('crash')],
    ['too little memory', () => Promise.reject(new AppError('upstream_invalid', 'It cannot be decoded.'))],
  ])('is re-encoded only once if that ends with %s', async (_, outcome) => {
    outcomes = [outcome];
    await askUntilDue();
    for (let minute = 0; minute < 30; minute += 1) {
      clock.advance(60_000);
      await ask();
    }
    expect(attempts).toBe(1);
    expect(errors).toHaveLength(1);
  });

  it('is re-encoded 20 s later if a waiting client needed the encoder', async () => {
    outcomes = [ended('preempted'), async () => Promise.reject(new AppError('overloaded', 'The queue is full.'))];
    await askUntilDue();
    await ask();
    expect(attempts).toBe(1);
    for (let attempt = 2; attempt <= 3; attempt += 1) {
      clock.advance(MIN_AGE_MS);
      await ask();
      expect(attempts).toBe(attempt);
    }
    expect(await ask()).toEqual(SMALL);
    expect(errors).toEqual([]);
  });

  it('is re-encoded 20 s later if its original could not be loaded', async () => {
    await ask();
    let downloads = 0;
    readOriginal = async () => {
      downloads += 1;
      throw new AppError('upstream_unavailable', 'The image host refuses.');
    };
    clock.advance(MIN_AGE_MS);
    for (let asked = 0; asked < 20; asked += 1) await ask();
    expect([downloads, attempts]).toEqual([1, 0]);

    readOriginal = async () => ({ bytes: Buffer.from('original') });
    clock.advance(MIN_AGE_MS);
    await ask();
    expect(await ask()).toEqual(SMALL);
    expect(errors).toEqual([]);
  });

  it('is sent with the smaller encoding after a restart, too', async () => {
    await askUntilDue();
    start();
    expect(await ask()).toEqual(SMALL);
    expect(attempts).toBe(1);
  });
});

it('stores an image of a custom size as such, also when it is re-encoded', async () => {
  const own = { width: 799 };
  await askUntilDue(own);
  expect(await ask(own)).toEqual(SMALL);
  expect(imageClasses).toEqual(['custom', 'custom']);
});

it('an image is encoded again in the turn of the client whose request is due', async () => {
  await ask();
  clock.advance(MIN_AGE_MS);
  const client = clientOf('another client');
  await withRequest({ requestId: 'id', client, epoch: createEpochs().current() }, () => ask());
  expect(charged).toEqual([client]);
});

describe('a smaller encoding that was evicted', () => {
  function evict(): void {
    for (const key of images.keys()) if (key.endsWith('.optimized')) images.delete(key);
  }

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

  it('is created again if the image is requested again', async () => {
    await askUntilDue();
    expect(await ask()).toEqual(SMALL);
    evict();
    expect(await ask()).toEqual(FAST);
    expect(attempts).toBe(1);
    await askUntilDue();
    expect(attempts).toBe(2);
    expect(await ask()).toEqual(SMALL);
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
])('%o uses the space of the %s images', async (request, imageClass) => {
  await ask(request);
  expect(imageClasses).toEqual([imageClass]);
});

it.each<[Partial<ImageRequest>, ImageClass]>([
  [{ variant: 'tv', width: 2_560, height: 423 }, 'plain'],
  [{ variant: 'desktop', width: 1_546, height: 423 }, 'plain'],
  [{ variant: 'desktop', width: 1_545, height: 423 }, 'custom'],
  [{ variant: 'tablet', width: 423, height: 423 }, 'custom'],
])('%o of a banner uses the space of the %s images', async (request, imageClass) => {
  banner = IMAGE;
  original = { ...ORIGINAL, width: 2_560, height: 1_440 };
  await ask(request);
  expect(imageClasses).toEqual([imageClass]);
});

it('an image has the first accepted format, otherwise the format that suits the original', async () => {
  expect((await getImage({ formats: ['avif', 'webp'] })).format).toBe('avif');
  expect((await getImage({ formats: [] })).format).toBe('jpeg');
  original = { ...ORIGINAL, hasAlpha: true };
  expect((await getImage({ formats: [] })).format).toBe('png');
});

it('an image has the age of its original, not of the record', async () => {
  expect(await getImage()).toMatchObject({
    channelId: CHANNEL_ID,
    lastModifiedMs: 123_000,
    outcome: ORIGINAL_OUTCOME,
  });
});

it('the error for an image that a channel does not have has the age of the record', async () => {
  await expect(getImage({ variant: 'tv' })).rejects.toMatchObject({
    code: 'image_not_found',
    outcome: RECORD_OUTCOME,
  });
});
