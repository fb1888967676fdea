import type { Channel } from '../domain/channel.ts';
import { AppError, isKeyFailure } from '../domain/errors.ts';
import type { ImageKind, Variant } from '../domain/variants.ts';
import type { Effort } from '../images/encode-settings.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import type { EncodeJob, JobOptions } from '../images/encoder/job.ts';
import { compactCopy } from '../lib/compact-copy.ts';
import { createFailedKeys } from '../lib/failed-keys.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSharedWork, createWaitingClients } from '../lib/shared-work.ts';
import { traced } from '../lib/tracing.ts';
import type { FileClass } from '../picture-store/file-names.ts';
import type { PictureCache } from '../picture-store/pictures.ts';
import { type Changes, concernsPicture } from '../store/changes.ts';
import {
  encodedOriginalKey,
  fingerprint,
  originalBytesKey,
  type PictureIdentity,
  pictureKey,
  refinedPictureKey,
} from '../store/keys.ts';
import { createMemoryTier } from '../store/memory-tier.ts';
import type { Original } from './cache-policy.ts';
import type { Originals } from './originals.ts';
import type { Generation, ReEncodeOutcome, ReEncoding } from './re-encoding.ts';

/** One picture, resolved: nothing of the request is left that could make two of it. */
export interface PictureSpec {
  readonly channel: Channel;
  readonly kind: ImageKind;
  /** Asked for; other variants may be the same picture. */
  readonly variant: Variant;
  readonly original: Original;
  readonly identity: PictureIdentity;
  readonly fileClass: FileClass;
}

export interface RenderedPicture {
  readonly bytes: Buffer;
  readonly isStored: boolean;
  readonly isCollapsed: boolean;
}

export interface RenderOptions {
  /** Whose turn it is. */
  readonly client: string;
  /** A signal that fires when the client has gone; called only when there is something to wait for. */
  readonly goneSignal: () => AbortSignal;
}

export interface Rendition {
  /** Strong, with its quotes: known without encoding. */
  readonly etag: string;
  /** Of encodings that were sent before and look the same. */
  readonly earlierEtags: readonly string[];
  /** Its bytes: stored, or made now. */
  render(options: RenderOptions): Promise<RenderedPicture>;
}

export interface Renderer {
  renditionOf(spec: PictureSpec): Promise<Rendition>;
}

export interface RendererOptions {
  readonly originals: Pick<Originals, 'read' | 'readBytes'>;
  readonly encoder: Pick<Encoder, 'encode' | 'reencode'>;
  readonly pictures: PictureCache;
  readonly reEncoding: ReEncoding;
  readonly changes: Changes;
  readonly runtime: Pick<Runtime, 'clock' | 'holders'>;
}

/** Hashing a key anew for each request costs more than looking its picture up. Some 10,000 pictures. */
const MAX_ETAGS_BYTES = 4 * 1024 * 1024;
/** The cache's own lists (measured; the test compares). */
const ETAG_OVERHEAD_BYTES = 300;

/** Makes pictures' bytes, each once: passed through, from the store, or encoded. */
export function createRenderer(options: RendererOptions): Renderer {
  const { originals, encoder, pictures, reEncoding, changes } = options;
  const { clock, holders } = options.runtime;
  const encoding = createSharedWork<Buffer>();
  const waiting = createWaitingClients();
  const failedEncodes = createFailedKeys({ clock });
  const etags = createMemoryTier<string>({
    changes,
    maxBytes: MAX_ETAGS_BYTES,
    sizeOf: (etag, key) => ETAG_OVERHEAD_BYTES + key.length + etag.length,
    concerns: concernsPicture,
  });
  holders.add('failed encodes', failedEncodes.stats);
  holders.add('ETags of pictures', etags.stats);
  holders.add('pictures being made', encoding.stats);

  function etagOf(key: string): string {
    const known = etags.get(key);
    if (known !== undefined) return known;
    const etag = `"${fingerprint(key)}"`;
    etags.set(compactCopy(key), etag);
    return etag;
  }

  async function jobFor({ channel, kind, original, identity }: PictureSpec, effort: Effort): Promise<EncodeJob> {
    const { crop, output, format, quality } = identity;
    return { original: await originals.read(channel, kind, original), crop, output, format, quality, effort };
  }

  async function encode(spec: PictureSpec, effort: Effort, options: JobOptions): Promise<Buffer> {
    const job = await jobFor(spec, effort);
    try {
      return await encoder.encode(job, options);
    } catch (error) {
      if (!('path' in job.original) || !(isGoneFile(error) || isUndecodable(error))) throw error;
      // The file was evicted or damaged since it was stored: reading it here finds out, and downloads it again.
      const bytes = await originals.readBytes(spec.channel, spec.kind, spec.original);
      return encoder.encode({ ...job, original: { bytes } }, options);
    }
  }

  async function refine(spec: PictureSpec, key: string): Promise<ReEncodeOutcome> {
    const quick = await pictures.get(key, spec.fileClass);
    if (quick === undefined) return 'interrupted';
    return traced({ name: 'refine picture', attributes: describePicture(spec) }, async () => {
      const job = await jobFor(spec, 'optimized').catch(unavailableOriginal);
      if (job === undefined) return 'unavailable';
      try {
        const background = { signal: new AbortController().signal, client: '', priority: 'background' } as const;
        const refined = await encoder.reencode(job, quick, background);
        if (refined === undefined) return 'rejected';
        pictures.put(refinedPictureKey(key), refined, spec.fileClass);
        return 'kept';
      } catch (error) {
        if (hasMadeWay(error) || isGoneFile(error)) return 'interrupted';
        throw error;
      }
    });
  }

  /** The generation that goes out now: a refined picture that was evicted is not made again for a client that waits. */
  async function availableGeneration(key: string, fileClass: FileClass): Promise<Generation> {
    if ((await reEncoding.encodingOf(key)) === 'quick') return 'quick';
    if (await pictures.has(refinedPictureKey(key), fileClass)) return 'refined';
    reEncoding.noteLost(key);
    return 'quick';
  }

  function passThrough(spec: PictureSpec, key: string): Rendition {
    const bytesKey = originalBytesKey(spec.channel.channelId, spec.original.digest);
    return {
      etag: etagOf(key),
      earlierEtags: [],
      async render() {
        const stored = await pictures.get(bytesKey, 'plain');
        if (stored !== undefined) return { bytes: stored, isStored: true, isCollapsed: false };
        const bytes = await originals.readBytes(spec.channel, spec.kind, spec.original);
        return { bytes, isStored: false, isCollapsed: false };
      },
    };
  }

  return {
    async renditionOf(spec) {
      const plainKey = pictureKey(spec.identity);
      const isWhole = isWholeOriginal(spec);
      if (isWhole && spec.original.isWebReady) return passThrough(spec, plainKey);
      const key = isWhole ? encodedOriginalKey(plainKey) : plainKey;
      const generation = await availableGeneration(key, spec.fileClass);
      const storedKey = generation === 'refined' ? refinedPictureKey(key) : key;
      const effort = generation === 'refined' ? 'optimized' : 'fast';

      async function make(signal: AbortSignal, client: string): Promise<Buffer> {
        const isShared = () => waiting.hasOther(storedKey, client);
        const bytes = await failedEncodes.run(storedKey, () => encode(spec, effort, { signal, client, isShared }));
        pictures.put(storedKey, bytes, spec.fileClass);
        return bytes;
      }

      return {
        etag: etagOf(storedKey),
        earlierEtags: generation === 'refined' ? [etagOf(key)] : [],
        async render({ client, goneSignal }) {
          if (generation === 'quick') reEncoding.noteFastResponse(key, () => refine(spec, key));
          const stored = await pictures.get(storedKey, spec.fileClass);
          if (stored !== undefined) return { bytes: stored, isStored: true, isCollapsed: false };
          const isCollapsed = encoding.isRunning(storedKey);
          const attributes = { ...describePicture(spec), 'pennant.cache.collapsed': isCollapsed };
          const bytes = await traced({ name: 'render picture', attributes }, () =>
            waiting.during(storedKey, client, () =>
              encoding.run(storedKey, goneSignal(), (shared) => make(shared, client)),
            ),
          );
          return { bytes, isStored: false, isCollapsed };
        },
      };
    },
  };
}

function describePicture({ kind, variant, identity: { format, output, quality } }: PictureSpec) {
  return {
    'pennant.picture.kind': kind,
    'pennant.picture.variant': variant,
    'pennant.picture.format': format,
    'pennant.picture.width': output.width,
    'pennant.picture.height': output.height,
    'pennant.picture.quality': quality,
  };
}

/** Any failure to read or download it may pass; anything else is a bug. */
function unavailableOriginal(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error;
}

/** The encoder refused the work or gave its place to somebody who waits: nothing is wrong with the picture. */
function hasMadeWay(error: unknown): boolean {
  return error instanceof AppError && error.code === 'overloaded' && !isKeyFailure(error);
}

function isUndecodable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'upstream_invalid';
}

function isGoneFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** True when the picture shows all of the original, in its own size and format. */
function isWholeOriginal({ original, identity }: PictureSpec): boolean {
  const { crop, output, format, quality } = identity;
  const isWhole = crop.width === original.width && crop.height === original.height;
  const isFullSize = output.width === original.width && output.height === original.height;
  return isWhole && isFullSize && format === original.format && quality === undefined;
}
