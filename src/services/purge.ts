import { pictureKey, refinedPictureKey } from '../cache/keys.ts';
import type { PictureCache } from '../cache/pictures.ts';
import { FORMATS } from '../domain/formats.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { type ImageKind, VARIANT_PRESETS, VARIANTS } from '../domain/variants.ts';
import { cropOf, resolveOutput } from '../images/crop.ts';
import type { ChannelService } from './channels.ts';
import type { Original, Originals } from './originals.ts';

/**
 * Forgets one channel: record, names, originals, and the pictures that everybody asks for, in memory and in the stores.
 * Pictures of a client's own size stay until they are evicted, and cannot be reached before the very same original comes
 * back. Other instances keep what they hold in their own memory until it is no longer fresh.
 *
 * @returns the channel's ID; `undefined` for a name that nothing is known of
 */
export type Purge = (ref: ChannelRef) => Promise<string | undefined>;

export interface PurgeOptions {
  readonly channels: Pick<ChannelService, 'purge'>;
  readonly originals: Pick<Originals, 'purge'>;
  readonly pictures: Pick<PictureCache, 'delete'>;
}

const KINDS: readonly ImageKind[] = ['banner', 'avatar'];

export function createPurge({ channels, originals, pictures }: PurgeOptions): Purge {
  async function purgePictures(kind: ImageKind, original: Original): Promise<void> {
    const keys = plainPictureKeys(kind, original);
    await Promise.all([...keys, ...keys.map(refinedPictureKey)].map((key) => pictures.delete(key)));
  }

  return async (ref) => {
    const channelId = await channels.purge(ref);
    if (channelId === undefined) return undefined;
    for (const kind of KINDS) {
      const original = await originals.purge(channelId, kind);
      if (original !== undefined) await purgePictures(kind, original);
    }
    return channelId;
  };
}

/** Of every variant in its own size, in every format. */
function plainPictureKeys(kind: ImageKind, original: Original): string[] {
  const variants = VARIANTS.filter((variant) => VARIANT_PRESETS[variant].kind === kind);
  const cuts = variants.map((variant) => resolveOutput(cropOf(variant, original), {}));
  return cuts.flatMap(({ crop, output }) =>
    FORMATS.map((format) => pictureKey({ digest: original.digest, crop, output, format, quality: undefined })),
  );
}
