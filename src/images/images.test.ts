import { beforeEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../test/helpers/clients.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { Original } from '../cache/policy.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel, RemoteImage } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { EncodeJob, OriginalBytes } from './encoder/job.ts';
import { createImageService, type Image, type ImageRequest, type ImageService } from './images.ts';

const ENCODED = Buffer.from('the encoded image');
const CHANNEL_ID = numberedChannelId(1);
const STORED = { refKey: 'ref', digest: '0123', firstStoredAtMs: 123_000 };
const ORIGINAL: Original = { ...STORED, width: 800, height: 800, format: 'jpeg', hasAlpha: false };
const IMAGE: RemoteImage = { kind: 'remote', key: 'ref', urls: [] };
const RECORD_OUTCOME: CacheOutcome = { kind: 'hit', ttlMs: 1, isCollapsed: false, isStored: false };
const ORIGINAL_OUTCOME: CacheOutcome = { kind: 'miss', ttlMs: 2, isCollapsed: false, isStored: true };
const WAITING = { client: clientOf('client'), disconnectSignal: () => new AbortController().signal };

const clock = createManualClock();
let images: Map<string, Buffer>;
let readOriginal: () => Promise<OriginalBytes>;
let readAgain: () => Promise<Buffer>;
let encode: (job: EncodeJob) => Promise<Buffer>;
let original: Original;
let service: ImageService;

beforeEach(() => {
  images = new Map();
  readOriginal = async () => ({ bytes: Buffer.from('original') });
  readAgain = unused;
  encode = async () => ENCODED;
  original = ORIGINAL;
  start();
});

function start(): void {
  service = createImageService({
    channels: {
      getChannel: async () => ({
        channel: { channelId: CHANNEL_ID, avatar: IMAGE, banner: null } as unknown as Channel,
        outcome: RECORD_OUTCOME,
      }),
    },
    originals: {
      get: async (channel) => ({ channel, value: original, outcome: ORIGINAL_OUTCOME }),
      readAgain: () => readAgain(),
      read: () => readOriginal(),
    },
    encoder: {
      libraryVersion: '01234567',
      encode: (job) => encode(job),
    },
    images: {
      get: async (_channelId, key) => images.get(key),
      put: (_channelId, key, bytes) => void images.set(key, bytes),
    },
    runtime: createTestRuntime({ clock }),
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
  return bytes;
}

async function unused(): Promise<never> {
  throw new Error('is not asked for');
}

describe('an image whose encode crashes its process', () => {
  it('fails without another encode for some seconds, and is then retried', async () => {
    let encodes = 0;
    encode = async () => {
      encodes += 1;
      throw new AppError('overloaded', 'The image could not be encoded.', { scope: 'key' });
    };
    for (let asked = 0; asked < 5; asked += 1) await expect(ask()).rejects.toMatchObject({ code: 'overloaded' });
    expect(encodes).toBe(1);
    clock.advance(15_000);
    encode = async () => ENCODED;
    expect(await ask()).toEqual(ENCODED);
  });
});

it('an original whose file is evicted or damaged is downloaded again', async () => {
  readOriginal = async () => ({ path: '/gone' });
  readAgain = async () => Buffer.from('the original');
  encode = async ({ original }) => {
    if ('path' in original) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return original.bytes;
  };
  expect(await ask()).toEqual(Buffer.from('the original'));
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
