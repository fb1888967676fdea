import { AppError, type CacheOutcome } from '../domain/errors.ts';
import { type Format, formatRow } from '../domain/formats.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { cropOf, resolveOutput, VARIANT_PRESETS, type Variant } from '../domain/variants.ts';
import type { ChannelService } from './channels.ts';
import type { Originals } from './originals.ts';
import type { Renderer, Rendition } from './pictures.ts';

export interface PictureRequest {
  /** References to the channel, in the order to try them. */
  readonly refs: readonly ChannelRef[];
  readonly variant: Variant;
  /** The requested format, or the accepted formats, best first. Empty: JPEG, or PNG for transparency. */
  readonly formats: readonly Format[];
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly quality: number | undefined;
}

/** A picture that may not be rendered yet: enough for a 304. */
export interface Picture extends Rendition {
  readonly channelId: string;
  readonly variant: Variant;
  readonly format: Format;
  readonly lastModifiedMs: number;
  /** The cache outcome of the original. */
  readonly outcome: CacheOutcome;
}

export interface BannerService {
  /**
   * @throws AppError `channel_not_found`, `image_not_found`, `channel_blocked`, `upstream_…`; `render` throws
   * `overloaded` and `upstream_invalid`
   */
  getPicture(request: PictureRequest): Promise<Picture>;
}

export interface BannerServiceOptions {
  readonly channels: Pick<ChannelService, 'findChannel'>;
  readonly originals: Pick<Originals, 'get'>;
  readonly renderer: Renderer;
}

export function createBannerService({ channels, originals, renderer }: BannerServiceOptions): BannerService {
  return {
    async getPicture({ refs, variant, formats, width, height, quality }) {
      const { channel, outcome: recordOutcome } = await channels.findChannel(refs);
      const { kind } = VARIANT_PRESETS[variant];
      if (channel[kind] === null) {
        throw new AppError('image_not_found', `This channel has no ${kind}.`, { outcome: recordOutcome });
      }
      const { value: original, outcome } = await originals.get(channel, kind);
      const format = formats[0] ?? (original.hasAlpha ? 'png' : 'jpeg');
      const variantCrop = cropOf(variant, original);
      const maxSide = formatRow(format).maxSidePx;
      const whole = resolveOutput(variantCrop, {}, maxSide);
      const { crop, output } = resolveOutput(variantCrop, sizeOf(width, height), maxSide);
      const ownQuality = ownQualityOf(format, quality);
      const isPlain =
        ownQuality === undefined && output.width === whole.output.width && output.height === whole.output.height;
      const { channelId } = channel;
      const rendition = await renderer.renditionOf({
        channel,
        kind,
        variant,
        original,
        identity: { channelId, digest: original.digest, crop, output, format, quality: ownQuality },
        fileClass: isPlain ? 'plain' : 'custom',
      });
      return { ...rendition, channelId, variant, format, lastModifiedMs: original.firstStoredAtMs, outcome };
    },
  };
}

/** Returns `undefined` for the format's default quality, so that the picture is the same as without a quality. */
function ownQualityOf(format: Format, quality: number | undefined): number | undefined {
  const usual = formatRow(format).quality;
  return usual === undefined || quality === usual ? undefined : quality;
}

function sizeOf(width: number | undefined, height: number | undefined): { width?: number; height?: number } {
  return { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
}
