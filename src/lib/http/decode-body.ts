import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '../../domain/errors.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Reads a response body to its end and decodes its content encoding. Any failure destroys the stream and its socket.
 *
 * @param maxBytes counted after decompression, so that a small response cannot expand to a large one
 * @throws AppError `upstream_invalid` if it is longer or has an unknown encoding
 */
export async function readBody(body: Readable, contentEncoding: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new AppError('upstream_invalid', 'The upstream response is too large.');
      chunks.push(chunk);
    }
  };

  const encoding = contentEncoding.trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') {
    await pipeline(body, collect);
  } else {
    const createDecoder = DECODERS[encoding];
    if (createDecoder === undefined) {
      discardBody(body);
      throw new AppError('upstream_invalid', 'The upstream response has an encoding that was not requested.');
    }
    await pipeline(body, createDecoder(), collect);
  }
  return Buffer.concat(chunks, bytes);
}

/** Discards a response that is not read, and closes its socket. */
export function discardBody(body: Readable): void {
  // A stream that is destroyed before its end reports that as an error, and one without a listener ends the process.
  body.on('error', () => undefined).destroy();
}
