import { type Format, formatRow, type LibraryOptions } from '../../domain/formats.ts';
import type { Backdrop, Rectangle, Size } from '../../domain/variants.ts';

/** An original with more pixels is refused. */
export const MAX_ORIGINAL_PIXELS = 50_000_000;

/** The options for the encoder library. `quality` replaces the format's own and has no effect on a lossless format. */
export function encoderOptions(format: Format, { width, height }: Size, quality: number | undefined): LibraryOptions {
  const row = formatRow(format);
  const [, effort] = row.efforts.find(([maxPixels]) => width * height <= maxPixels) ?? [];
  return { ...row.options, ...effort, ...(row.quality !== undefined && { quality: quality ?? row.quality }) };
}

/** The properties of an image. The orientation is applied to width and height. */
export interface ImageInfo extends Size {
  readonly hasTransparency: boolean;
}

/** How an image is made from its original, as plain data. */
export interface EncodeOptions {
  /** With its orientation applied. */
  readonly originalSize: Size;
  readonly crop: Rectangle;
  /** The size of the image. The crop is scaled to it, or to `backdrop.inner`. */
  readonly output: Size;
  readonly backdrop?: Backdrop | undefined;
  readonly format: Format;
  /** 1–100; `undefined` takes the format's default. */
  readonly quality: number | undefined;
}

/** One encode. A job that waits does not hold its original: 64 of them could take 1 GiB. */
export interface EncodeJob extends EncodeOptions {
  /** Called when the job begins. */
  readonly readOriginal: () => Promise<Buffer>;
}

/** A task for an encoder process, as plain data. Without options the original is inspected. */
export interface EncoderTask {
  readonly original: Buffer;
  readonly options: EncodeOptions | undefined;
}

/** The response of an encoder process. `rssBytes`: its resident memory after the task. */
export type TaskReply = { readonly rssBytes: number } & (
  | { readonly ok: true; readonly result: ImageInfo | Buffer }
  /** Anything but an original that cannot be decoded is a bug. `detail` is for the log, never for a client. */
  | { readonly ok: false; readonly isUndecodable: boolean; readonly detail: string }
);
