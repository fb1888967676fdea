import { hash } from 'node:crypto';
import type { Channel } from '../../src/domain/channel.ts';
import { channelIdRef } from '../../src/domain/identifier.ts';
import { cropOf, type ImageKind, REFERENCE_BANNER, resolveOutput, VARIANT_PRESETS } from '../../src/domain/variants.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createRuntime } from '../../src/lib/runtime.ts';
import { createPictureCache } from '../../src/picture-store/pictures.ts';
import {
  CACHE_POLICY,
  type ChannelEntry,
  type Original,
  PICTURE_MEMORY_SHARE,
} from '../../src/services/cache-policy.ts';
import { createChannelService } from '../../src/services/channels.ts';
import { createChanges } from '../../src/store/changes.ts';
import { channelKey, originalBytesKey, originalKey, pictureKey } from '../../src/store/keys.ts';
import { createReadThrough } from '../../src/store/read-through.ts';
import { channelIdOf } from '../catalog-content.ts';
import type { SimulatedFiles, SimulatedSharedPictures, SimulatedStore } from './stores.ts';
import type { SimulatedPicture } from './traffic.ts';

/** The results of requests. */
export interface Counts {
  requests: number;
  /** Served without an upstream call and without an encoder, as reported in Cache-Status. */
  hits: number;
  /** Hits from this process's memory only. */
  memoryHits: number;
  recordLoads: number;
  downloads: number;
  encodes: number;
}

export function zeroCounts(): Counts {
  return { requests: 0, hits: 0, memoryHits: 0, recordLoads: 0, downloads: 0, encodes: 0 };
}

export interface InstanceOptions {
  readonly clock: Clock;
  readonly store: SimulatedStore;
  readonly files: SimulatedFiles;
  readonly sharedPictures: SimulatedSharedPictures | undefined;
  /** The value of `MEMORY_CACHE_BYTES`. */
  readonly memoryBytes: number;
  /** The counts of all instances together. */
  readonly counts: () => Counts;
}

export interface SimulatedInstance {
  ask(rank: number, picture: SimulatedPicture | undefined): Promise<void>;
  memoryBytes(): number;
}

const ORIGINAL_BYTES: Record<ImageKind, number> = { banner: 200 * 1024, avatar: 40 * 1024 };
const ORIGINAL_SIZE = { banner: REFERENCE_BANNER, avatar: { width: 800, height: 800 } };
/** The total length of a record's texts (the mean of the samples). */
const DESCRIPTION = 'x'.repeat(400);
/** Pictures are views of these bytes, because only their lengths matter. */
const BYTES = Buffer.alloc(256 * 1024);

/**
 * One instance: the service's own caches, keys and rules on the simulated clock. Only the components that take time or
 * space are models: upstream, encoders, disk and Redis.
 */
export function createSimulatedInstance(options: InstanceOptions): SimulatedInstance {
  const { clock, store, files, sharedPictures, memoryBytes, counts } = options;
  const memoryFor = (kind: keyof typeof CACHE_POLICY) => Math.floor(memoryBytes * CACHE_POLICY[kind].memoryShare);
  const changes = createChanges();
  const runtime = createRuntime({ clock, logger: createLogger({ level: 'silent' }) });
  runtime.health.report = (component, problem) => {
    if (problem !== null) throw new Error(`${component}: ${problem}`);
  };
  const records = createReadThrough<ChannelEntry>({
    store,
    clock,
    ...CACHE_POLICY.records,
    changes,
    channelIdsOf: () => [],
    maxMemoryBytes: memoryFor('records'),
  });
  const originals = createReadThrough<Original>({
    store,
    clock,
    ...CACHE_POLICY.originals,
    changes,
    channelIdsOf: () => [],
    maxMemoryBytes: memoryFor('originals'),
  });
  const channels = createChannelService({
    sources: {
      resolve: () => Promise.reject(new Error('No request names a channel by its handle.')),
      async getChannel(channelId) {
        counts().recordLoads += 1;
        return { channel: channelOf(channelId), missing: [], isComplete: true };
      },
      getRest: () => Promise.reject(new Error('No record lacks a part.')),
    },
    records,
    names: createReadThrough<string>({
      store,
      clock,
      ...CACHE_POLICY.names,
      changes,
      channelIdsOf: () => [],
      maxMemoryBytes: memoryFor('names'),
    }),
    publishDates: { complete: (channel) => Promise.resolve(channel) },
    blockedChannels: new Set(),
    clock,
  });
  const pictures = createPictureCache({
    files,
    changes,
    ...(sharedPictures && { shared: sharedPictures }),
    maxMemoryBytes: Math.floor(memoryBytes * PICTURE_MEMORY_SHARE),
    runtime,
  });

  async function askRecord(channelId: string): Promise<boolean> {
    const { outcome } = await channels.getChannel([channelIdRef(channelId)]);
    return outcome.kind === 'hit';
  }

  async function askPicture(channelId: string, picture: SimulatedPicture): Promise<boolean> {
    await channels.findChannel([channelIdRef(channelId)]);
    const { kind } = VARIANT_PRESETS[picture.variant];
    const load = () => loadOriginal(channelId, kind);
    const { value: original, outcome } = await originals.get(originalKey(channelId, kind), load, NO_WAIT);
    const isStored = await findOrEncode(channelId, original, kind, picture);
    return isStored && outcome.kind === 'hit';
  }

  async function loadOriginal(channelId: string, kind: ImageKind): Promise<{ value: Original }> {
    const digest = hash('sha256', `${kind}${channelId}`).slice(0, 32);
    download(channelId, digest, kind);
    const { width, height } = ORIGINAL_SIZE[kind];
    return {
      value: {
        refKey: digest,
        digest,
        firstStoredAtMs: clock.now(),
        width,
        height,
        format: 'jpeg',
        hasAlpha: false,
        isWebReady: true,
      },
    };
  }

  function download(channelId: string, digest: string, kind: ImageKind): void {
    counts().downloads += 1;
    pictures.put(originalBytesKey(channelId, digest), BYTES.subarray(0, ORIGINAL_BYTES[kind]), 'plain');
  }

  /** False if the picture had to be encoded. */
  async function findOrEncode(
    channelId: string,
    original: Original,
    kind: ImageKind,
    { variant, format, bytes }: SimulatedPicture,
  ): Promise<boolean> {
    const { crop, output } = resolveOutput(cropOf(variant, original), {});
    const key = pictureKey({ channelId, digest: original.digest, crop, output, format, quality: undefined });
    if ((await pictures.get(key, 'plain')) !== undefined) return true;
    const originalBytes = await pictures.findForReading(originalBytesKey(channelId, original.digest));
    if (originalBytes === undefined) download(channelId, original.digest, kind);
    counts().encodes += 1;
    pictures.put(key, BYTES.subarray(0, bytes), 'plain');
    return false;
  }

  return {
    async ask(rank, picture) {
      const channelId = channelIdOf(rank);
      const readsBefore = store.reads() + files.reads();
      const isHit = await (picture === undefined ? askRecord(channelId) : askPicture(channelId, picture));
      const isFromMemory = store.reads() + files.reads() === readsBefore;
      counts().requests += 1;
      if (isHit) counts().hits += 1;
      if (isHit && isFromMemory) counts().memoryHits += 1;
    },
    memoryBytes: () =>
      records.stats().memory.bytes + originals.stats().memory.bytes + (pictures.stats().memory.bytes ?? 0),
  };
}

/** The wait for an original that is older than a day. Here every load ends at once. */
const NO_WAIT = { staleWaitMs: 1_000 };

/** A record as large as the samples'. */
export function channelOf(channelId: string): Channel {
  const refOf = (kind: ImageKind) => ({
    kind: 'remote',
    key: `${kind}${channelId}`,
    urls: [pictureUrl(kind, channelId)],
  });
  return {
    channelId,
    title: channelKey(channelId),
    description: DESCRIPTION,
    customUrl: `@${channelId}`,
    publishedAt: '2014-05-17T09:30:00Z',
    country: 'NL',
    subscriberCount: '1284000',
    viewCount: '96340127',
    videoCount: '412',
    links: [{ title: 'Website', url: 'https://pennant.example/' }],
    banner: refOf('banner') as Channel['banner'],
    avatar: refOf('avatar') as Channel['avatar'],
  };
}

function pictureUrl(kind: ImageKind, channelId: string): string {
  return `https://yt3.googleusercontent.com/${kind}${channelId}=s0`;
}
