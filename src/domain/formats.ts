export const FORMATS = ['avif', 'webp', 'jpeg', 'png'] as const;
export type Format = (typeof FORMATS)[number];

export const MEDIA_TYPES: Record<Format, string> = {
  avif: 'image/avif',
  webp: 'image/webp',
  jpeg: 'image/jpeg',
  png: 'image/png',
};

/** File name extensions; `jpg` is what people save JPEGs as. */
export const EXTENSIONS: Record<Format, string> = { avif: 'avif', webp: 'webp', jpeg: 'jpg', png: 'png' };

/** Reads a format's name or extension; `undefined` when it is none of ours. */
export function findFormat(text: string): Format | undefined {
  if (text === 'jpg') return 'jpeg';
  return FORMATS.find((format) => format === text);
}

/** What originals may be: anything else is refused before a decoder sees it. */
export type SourceFormat = Format | 'gif';

/**
 * Tells a picture's format by its first bytes, `undefined` for anything that is not one of the five we decode.
 * Signatures: PNG 1.2 §3.1, JPEG (ITU T.81 B.1.1.3), GIF89a §17, RFC 9649 (WebP), AVIF 1.1 §6 (`avif`/`avis` brands).
 */
export function sniffFormat(bytes: Uint8Array): SourceFormat | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  if (head.length < 12) return undefined;
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpeg';
  if (head.subarray(0, 8).equals(PNG_SIGNATURE)) return 'png';
  const ascii = head.toString('latin1');
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'gif';
  if (ascii.startsWith('RIFF') && ascii.startsWith('WEBP', 8)) return 'webp';
  if (ascii.startsWith('ftyp', 4) && hasAvifBrand(ascii, head.readUInt32BE(0))) return 'avif';
  return undefined;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function hasAvifBrand(ascii: string, boxBytes: number): boolean {
  const brands = [ascii.slice(8, 12)];
  for (let at = 16; at + 4 <= Math.min(boxBytes, ascii.length); at += 4) brands.push(ascii.slice(at, at + 4));
  return brands.some((brand) => brand === 'avif' || brand === 'avis');
}
