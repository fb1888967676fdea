import type { Format } from '../domain/formats.ts';
import type { Backdrop, Rectangle, Size } from '../domain/variants.ts';

/**
 * The version of encoded images, in their keys. It also goes up when their encoding changes, because the ETag is made from the
 * key. It stays for another version of the image library, which the key contains too.
 */
const ENCODING_VERSION = 4;

/** Everything that changes an image's bytes, apart from the versions. */
export interface ImageIdentity {
  readonly channelId: string;
  /** The digest of the original. */
  readonly digest: string;
  readonly crop: Rectangle;
  readonly output: Size;
  readonly backdrop?: Backdrop | undefined;
  readonly format: Format;
  readonly quality: number | undefined;
}

/**
 * The key of an encoded image.
 *
 * @param libraryVersion of the image library
 */
export function imageKey(identity: ImageIdentity, libraryVersion: string): string {
  const { channelId, digest, crop, output, backdrop, format, quality } = identity;
  const original = `image${ENCODING_VERSION}-${libraryVersion}/${channelId}/${digest}`;
  const cropText = `${crop.left},${crop.top},${crop.width},${crop.height}`;
  const padding =
    backdrop === undefined ? '' : `/${backdrop.inner.width}x${backdrop.inner.height}-${backdrop.background}`;
  return `${original}/${cropText}/${output.width}x${output.height}${padding}/${quality ?? 'default'}.${format}`;
}
