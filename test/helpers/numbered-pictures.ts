import { createHash } from 'node:crypto';

/** Bytes that only this number has, 10 to 250 kilobytes of them. */
export function pictureOf(number: number): Buffer {
  const seed = createHash('sha256').update(`picture ${number}`).digest();
  return Buffer.alloc(10_000 + (number % 25) * 10_000, seed);
}
