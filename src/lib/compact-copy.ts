/**
 * The same text as a string of its own, for texts that outlive the request they came with: V8 keeps a whole header alive
 * for a string that was cut out of it, and a few thousand of those are an attack.
 */
export function compactCopy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** The rest of a network packet or of a message may be as much. */
const MAX_UNUSED_BYTES = 4_096;

/** The same bytes in memory of their own where they are a small part of a larger buffer, which would be kept with them. */
export function compactBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength - bytes.length <= MAX_UNUSED_BYTES) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
