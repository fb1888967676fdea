import type { ImageStore } from '../cache/image-store.ts';
import { fingerprint } from '../cache/keys.ts';
import type { OriginalInfo } from '../cache/values.ts';
import type { ChannelResponse, ChannelService } from '../channels/channels.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, isUpstreamFailure, valueOrError } from '../domain/errors.ts';
import { type Format, formatRow } from '../domain/formats.ts';
import { type Identifier, identifierOfId } from '../domain/identifier.ts';
import {
  type Backdrop,
  type Background,
  cropOf,
  type Fit,
  type ImageKind,
  isSameSize,
  resolveOutput,
  type Size,
  type Variant,
  variantRow,
} from '../domain/variants.ts';
import { createFailedKeys } from '../lib/failed-keys.ts';
import { isExplainedByBreaker } from '../lib/http/gate.ts';
import { describeFailure } from '../lib/logger.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import type { Encoder } from './encoder/encoder.ts';
import type { EncodeOptions } from './encoder/job.ts';
import { ImageGone, type Original, type Originals } from './originals.ts';

export interface ImageRequest {
  /** References to the channel, in the order to try them. */
  readonly identifiers: readonly Identifier[];
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

/** An image that may not be encoded yet: enough for a 304. */
export interface Image {
  readonly channelId: string;
  readonly variant: Variant;
  readonly format: Format;
  readonly lastModifiedMs: number;
  /** The cache outcome of the original. */
  readonly outcome: CacheOutcome;
  /** Strong, with quotes. Known before encoding. */
  readonly etag: string;
  /**
   * Returns the stored bytes, or encodes them now. Their outcome is that of the original, or a miss.
   *
   * @param disconnectSignal returns a signal that aborts when the client disconnects; called only when it must wait
   */
  render(disconnectSignal: () => AbortSignal): Promise<{ bytes: Buffer; outcome: CacheOutcome }>;
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
  /** Forgets the images that could not be encoded. */
  forgetFailures(): void;
}

interface ImageServiceOptions {
  readonly channels: Pick<ChannelService, 'getChannel' | 'expire'>;
  readonly originals: Originals;
  readonly encoder: Pick<Encoder, 'encode' | 'libraryVersion'>;
  readonly images: Pick<ImageStore, 'get' | 'put'>;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'metrics'>;
}

/** Returns stored images, or encodes them, each once for all concurrent requests. */
export function createImageService(options: ImageServiceOptions): ImageService {
  const { channels, originals, encoder, images } = options;
  const { clock, failureLog, metrics } = options.runtime;
  const encoding = createSingleFlight<Buffer>();
  const failedEncodes = createFailedKeys({ clock });
  addBoundGauges(metrics, 'pennant_failed_encodes', 'failed encodes', failedEncodes.stats);
  addBoundGauges(metrics, 'pennant_images_being_made', 'images being made', encoding.stats);

  /** Logs why there is no image, unless the line about a breaker says it. */
  async function logged<T>(channelId: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (isUpstreamFailure(error) && !isExplainedByBreaker(error)) {
        const reason = describeFailure(error);
        const fields = { channelId, code: error.code, reason };
        failureLog.report({ level: 'warn', key: `image ${error.code} ${reason}`, message: 'image failed', fields });
      }
      throw error;
    }
  }

  async function render(
    key: string,
    original: Original,
    options: EncodeOptions,
    disconnectSignal: () => AbortSignal,
  ): ReturnType<Image['render']> {
    const { channelId, outcome } = original;
    const id = { key, isOriginal: false };
    const stored = await images.get(id);
    if (stored !== undefined) return { bytes: stored, outcome };
    const isCollapsed = encoding.isRunning(key);
    const making = encoding.run(key, disconnectSignal(), async (signal) => {
      const job = { readOriginal: original.read, ...options };
      const made = await failedEncodes.run(key, () => encoder.encode(job, signal));
      images.put(id, made);
      return made;
    });
    const bytes = await logged(channelId, making);
    // A stale original is reported even if this image was encoded now.
    if (outcome.kind === 'stale') return { bytes, outcome };
    return { bytes, outcome: { ...outcome, kind: 'miss', isStored: true, isCollapsed } };
  }

  async function findNamed({ channel, outcome }: ChannelResponse, kind: ImageKind): Promise<Original> {
    const ref = channel[kind];
    if (ref === null) throw noImage(channel, kind, outcome);
    return originals.get(channel.channelId, kind, ref);
  }

  /** The original that the record names. When it is gone, the record is loaded again, once, and may name another one. */
  async function findOriginal(record: ChannelResponse, kind: ImageKind): Promise<Original> {
    const found = await valueOrError(findNamed(record, kind));
    const failure = found instanceof AppError ? found : found.failure;
    if (failure instanceof ImageGone) {
      await channels.expire(record);
      const current = await channels.getChannel([identifierOfId(record.channel.channelId)]);
      if (current.channel[kind]?.key !== record.channel[kind]?.key) return findNamed(current, kind);
      if (found === failure && current.outcome.kind === 'stale') throw unknownImage(failure);
    }
    if (found instanceof AppError) throw found;
    return found;
  }

  return {
    async getImage(request) {
      const { identifiers, variant } = request;
      const { kind } = variantRow(variant);
      // A stale record most often names the current image, so no image waits for its reload.
      const record = await channels.getChannel(identifiers, { softTimeoutMs: 0 });
      const original = await logged(record.channel.channelId, findOriginal(record, kind));
      const { channelId, value, outcome } = original;
      const options = resolveRequest(request, value);
      const key = imageKey(channelId, value.digest, options, encoder.libraryVersion);
      return {
        channelId,
        variant,
        format: options.format,
        // Never later than the response itself (RFC 9110, 8.8.2.1), although the clock may have been set back.
        lastModifiedMs: Math.min(value.firstStoredAtMs, clock.now()),
        outcome,
        etag: `"${fingerprint(key)}"`,
        render: (disconnectSignal) => render(key, original, options, disconnectSignal),
      };
    },

    forgetFailures: failedEncodes.forget,
  };
}

function noImage(channel: Channel, kind: ImageKind, outcome: CacheOutcome): AppError {
  const other = kind === 'banner' ? 'avatar' : 'banner';
  const hint = channel[other] === null ? '' : `, but it has ${other === 'avatar' ? 'an' : 'a'} ${other}`;
  return new AppError('image_not_found', `This channel has no ${kind}${hint}.`, { outcome });
}

function unknownImage(cause: AppError): AppError {
  const message = 'The image is gone, and the channel’s record cannot be loaded at the moment.';
  return new AppError('upstream_unavailable', message, { cause });
}

/** How the image of a request is made, with defaults for what the request leaves out. */
function resolveRequest(
  { variant, formats, width, height, quality, fit, background }: ImageRequest,
  { hasTransparency, ...original }: OriginalInfo,
): EncodeOptions {
  const format = formats[0] ?? (hasTransparency ? 'png' : 'jpeg');
  const originalSize = { width: original.width, height: original.height };
  const { crop, output, inner } = resolveOutput(cropOf(variant, originalSize), { width, height, fit });
  const usual = formatRow(format).hasTransparency ? 'transparent' : 'ffffff';
  const color = background === undefined || background === 'transparent' ? usual : background;
  const backdrop = inner && backdropOf({ inner, background: color }, output, usual, hasTransparency);
  return { originalSize, crop, output, backdrop, format, quality: customQualityOf(format, quality) };
}

/** `undefined` if nothing of the background is visible: the image is then the same as without `contain`. */
function backdropOf(
  backdrop: Backdrop,
  output: Size,
  usual: Background,
  hasTransparency: boolean,
): Backdrop | undefined {
  const isVisible = !isSameSize(backdrop.inner, output) || (hasTransparency && backdrop.background !== usual);
  return isVisible ? backdrop : undefined;
}

/** Returns `undefined` for the format's default quality, so that the image is the same as without a quality. */
function customQualityOf(format: Format, quality: number | undefined): number | undefined {
  const usual = formatRow(format).quality;
  return usual === undefined || quality === usual ? undefined : quality;
}

/**
 * The version of encoded images, in their keys. It also goes up when their encoding changes, because the ETag is made from the
 * key. It stays for another version of the image library, which the key contains too.
 */
const ENCODING_VERSION = 4;

/** The key of an image that is made from the original with this digest: everything that changes its bytes. */
function imageKey(channelId: string, digest: string, options: EncodeOptions, libraryVersion: string): string {
  const { crop, output, backdrop, format, quality } = options;
  const original = `image${ENCODING_VERSION}-${libraryVersion}/${channelId}/${digest}`;
  const cropText = `${crop.left},${crop.top},${crop.width},${crop.height}`;
  const padding =
    backdrop === undefined ? '' : `/${backdrop.inner.width}x${backdrop.inner.height}-${backdrop.background}`;
  return `${original}/${cropText}/${output.width}x${output.height}${padding}/${quality ?? 'default'}.${format}`;
}
