import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, errorCodeOf, isKeyFailure } from '../domain/errors.ts';
import { type Format, formatRow } from '../domain/formats.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import {
  type Backdrop,
  type Background,
  cropOf,
  type Fit,
  type ImageKind,
  isSameSize,
  isWholeVariant,
  resolveOutput,
  type Size,
  VARIANT_PRESETS,
  type Variant,
} from '../domain/variants.ts';
import { type ImageIdentity, imageKey, optimizedImageKey } from '../image-store/image-keys.ts';
import type { ImageStore } from '../image-store/image-store.ts';
import type { ImageClass } from '../image-store/schema.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import type { Effort, EncodeJob, JobOptions } from '../images/encoder/job.ts';
import { NEVER_ABORTED } from '../lib/deadlines.ts';
import { createFailedKeys } from '../lib/failed-keys.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSharedWork } from '../lib/shared-work.ts';
import { type ClientKeys, currentClient } from '../lib/work.ts';
import { fingerprint } from '../store/keys.ts';
import type { Original } from './cache-policy.ts';
import type { ChannelService } from './channels.ts';
import type { Originals } from './originals.ts';
import type { ReEncodeOutcome, ReEncoding } from './re-encoding.ts';

export interface ImageRequest {
  /** References to the channel, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly variant: Variant;
  /** The requested format, or the accepted formats, best first. Empty: JPEG, or PNG for transparency. */
  readonly formats: readonly Format[];
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly quality: number | undefined;
  /** Default `cover`. `contain` counts only with both sides. */
  readonly fit?: Fit | undefined;
  /** Counts only with `contain`. Default: transparent, or white in a format without transparency. */
  readonly background?: Background | undefined;
}

/** A resolved image. Requests for the same image have the same `identity`. */
interface ImageSpec {
  readonly channel: Channel;
  readonly kind: ImageKind;
  /** The requested variant. Other variants may give the same image. */
  readonly variant: Variant;
  readonly original: Original;
  readonly identity: ImageIdentity;
  readonly imageClass: ImageClass;
}

type Rendition = Pick<Image, 'isFinal' | 'etag' | 'render'>;

/** An image that may not be encoded yet: enough for a 304. */
export interface Image {
  readonly channelId: string;
  readonly variant: Variant;
  readonly format: Format;
  readonly lastModifiedMs: number;
  /** The cache outcome of the original. */
  readonly outcome: CacheOutcome;
  /** False if the record names a newer image, which could not be loaded yet, or is provisional. */
  readonly isCurrent: boolean;
  /** False while a smaller encoding may still replace it. */
  readonly isFinal: boolean;
  /** Remaining freshness of both the record and the original, in milliseconds. */
  readonly freshMs: number;
  /** Strong, with quotes. Known before encoding. */
  readonly etag: string;
  /**
   * Returns the stored bytes, or encodes them now.
   *
   * @param disconnectSignal returns a signal that aborts when the client disconnects; called only when it must wait
   */
  render(options: {
    /** For fair scheduling. */
    readonly client: ClientKeys;
    readonly disconnectSignal: () => AbortSignal;
  }): Promise<{ bytes: Buffer; isStored: boolean; isCollapsed: boolean }>;
}

/** Banner crops and avatars, in every format and size. */
export interface ImageService {
  /**
   * Finds an image without encoding it.
   *
   * @throws AppError `channel_not_found`, `image_not_found`, `channel_blocked`, `upstream_…`; `render` throws
   * `overloaded` and `upstream_invalid`
   */
  getImage(request: ImageRequest): Promise<Image>;
}

interface ImageServiceOptions {
  readonly channels: Pick<ChannelService, 'getChannel'>;
  readonly originals: Pick<Originals, 'get' | 'read' | 'readBytes'>;
  readonly encoder: Pick<Encoder, 'encode' | 'libraryVersion'>;
  readonly images: Pick<ImageStore, 'get' | 'put'>;
  readonly reEncoding: ReEncoding;
  readonly runtime: Pick<Runtime, 'clock' | 'holders'>;
}

/** Returns stored images, or encodes them, each once for all concurrent requests. */
export function createImageService(options: ImageServiceOptions): ImageService {
  const { channels, originals, encoder, images, reEncoding } = options;
  const { clock, holders } = options.runtime;
  const encoding = createSharedWork<Buffer>();
  const failedEncodes = createFailedKeys({ clock });
  holders.add('failed encodes', failedEncodes.stats);
  holders.add('images being made', encoding.stats);

  async function jobFor({ channel, kind, original, identity }: ImageSpec, effort: Effort): Promise<EncodeJob> {
    const { crop, output, backdrop, format, quality } = identity;
    const { width, height } = original;
    const image = { originalSize: { width, height }, crop, output, backdrop, format, quality, effort };
    return { original: await originals.read(channel, kind, original), ...image };
  }

  async function encode(spec: ImageSpec, effort: Effort, options: JobOptions): Promise<Buffer> {
    const job = await jobFor(spec, effort);
    try {
      return await encoder.encode(job, options);
    } catch (error) {
      // The file was evicted or damaged. `readBytes` notices that and downloads the original again.
      const isUnusable = hasErrorCode(error, 'ENOENT') || errorCodeOf(error) === 'upstream_invalid';
      if (!('path' in job.original) || !isUnusable) throw error;
      const bytes = await originals.readBytes(spec.channel, spec.kind, spec.original);
      return encoder.encode({ ...job, original: { bytes } }, options);
    }
  }

  async function reEncode(spec: ImageSpec, key: string): Promise<ReEncodeOutcome> {
    const fast = await images.get(key, spec.imageClass);
    if (fast === undefined) return 'interrupted';
    // It continues after the client disconnects, but counts for it: one client's images must not fill the queue.
    const options: JobOptions = { signal: NEVER_ABORTED, client: currentClient(), priority: 'background' };
    try {
      const optimized = await encode(spec, 'optimized', options);
      if (optimized.length >= fast.length) return 'rejected';
      images.put(optimizedImageKey(key), optimized, spec.imageClass);
      return 'kept';
    } catch (error) {
      if (isTemporary(error)) return 'interrupted';
      throw error;
    }
  }

  async function renditionOf(spec: ImageSpec): Promise<Rendition> {
    const fastKey = imageKey(spec.identity, encoder.libraryVersion);
    const { effort, isFinal } = await reEncoding.nextEffort({
      key: fastKey,
      isOptimizedStored: async () => (await images.get(optimizedImageKey(fastKey), spec.imageClass)) !== undefined,
      reEncode: () => reEncode(spec, fastKey),
    });
    const storedKey = effort === 'optimized' ? optimizedImageKey(fastKey) : fastKey;

    async function make(signal: AbortSignal, client: ClientKeys): Promise<Buffer> {
      const bytes = await failedEncodes.run(storedKey, () => encode(spec, effort, { signal, client }));
      images.put(storedKey, bytes, spec.imageClass);
      return bytes;
    }

    return {
      isFinal,
      etag: `"${fingerprint(storedKey)}"`,
      async render({ client, disconnectSignal }) {
        const stored = await images.get(storedKey, spec.imageClass);
        if (stored !== undefined) return { bytes: stored, isStored: true, isCollapsed: false };
        const isCollapsed = encoding.isRunning(storedKey);
        const bytes = await encoding.run(storedKey, disconnectSignal(), (shared) => make(shared, client));
        return { bytes, isStored: false, isCollapsed };
      },
    };
  }

  return {
    async getImage(request) {
      const { refs, variant } = request;
      // A stale record most often names the current image, so no image waits for its reload.
      const { channel: named, outcome: recordOutcome } = await channels.getChannel(refs, 0);
      const { kind } = VARIANT_PRESETS[variant];
      if (named[kind] === null) {
        const other = kind === 'banner' ? 'avatar' : 'banner';
        const hint = named[other] === null ? '' : `, but it has ${other === 'avatar' ? 'an' : 'a'} ${other}`;
        throw new AppError('image_not_found', `This channel has no ${kind}${hint}.`, { outcome: recordOutcome });
      }
      const { channel, value: original, outcome, isCurrent } = await originals.get(named, kind);
      const { channelId } = channel;
      const resolved = resolveRequest(request, channelId, original);
      const rendition = await renditionOf({ channel, kind, variant, original, ...resolved });
      const { format } = resolved.identity;
      const lastModifiedMs = original.firstStoredAtMs;
      const freshMs = Math.min(recordOutcome.ttlMs, outcome.ttlMs);
      const isLatest = isCurrent && recordOutcome.isProvisional !== true;
      return { ...rendition, channelId, variant, format, lastModifiedMs, outcome, isCurrent: isLatest, freshMs };
    },
  };
}

/** The image of a request, with defaults for what the request leaves out. */
function resolveRequest(
  { variant, formats, width, height, quality, fit, background }: ImageRequest,
  channelId: string,
  original: Original,
): Pick<ImageSpec, 'identity' | 'imageClass'> {
  const { digest, hasAlpha } = original;
  const format = formats[0] ?? (hasAlpha ? 'png' : 'jpeg');
  const { crop, output, inner } = resolveOutput(cropOf(variant, original), { width, height, fit });
  const usual = formatRow(format).hasTransparency ? 'transparent' : 'ffffff';
  const color = background === undefined || background === 'transparent' ? usual : background;
  const backdrop = inner && backdropOf({ inner, background: color }, output, usual, hasAlpha);
  const customQuality = customQualityOf(format, quality);
  const isWhole = backdrop === undefined && isWholeVariant(VARIANT_PRESETS[variant].kind, { crop, output }, original);
  const identity = { channelId, digest, crop, output, backdrop, format, quality: customQuality };
  return { identity, imageClass: isWhole && customQuality === undefined ? 'plain' : 'custom' };
}

/** `undefined` if nothing of the background is visible: the image is then the same as without `contain`. */
function backdropOf(backdrop: Backdrop, output: Size, usual: Background, hasAlpha: boolean): Backdrop | undefined {
  const isVisible = !isSameSize(backdrop.inner, output) || (hasAlpha && backdrop.background !== usual);
  return isVisible ? backdrop : undefined;
}

/** False for a crash or a deadline of the encoder, an image that it cannot make, and a bug: the next attempt would fail too. */
function isTemporary(error: unknown): boolean {
  const isLasting = isKeyFailure(error) && ['overloaded', 'upstream_invalid'].includes(error.code);
  return error instanceof AppError && !isLasting;
}

/** Returns `undefined` for the format's default quality, so that the image is the same as without a quality. */
function customQualityOf(format: Format, quality: number | undefined): number | undefined {
  const usual = formatRow(format).quality;
  return usual === undefined || quality === usual ? undefined : quality;
}
