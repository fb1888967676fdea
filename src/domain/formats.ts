/** Options of the encoder library, by its own names: sharp.pixelplumbing.com/api-output (0.35, seen 2026-11). */
export type LibraryOptions = Readonly<Record<string, number | boolean | string>>;

interface FormatRow {
  /** The name in texts. */
  readonly title: string;
  readonly mediaType: string;
  /** The extension of file names. In URLs, the format's name is accepted too. */
  readonly extension: string;
  /** Whether `Accept` may choose it. The order of the rows is the order of preference. */
  readonly isNegotiated: boolean;
  readonly hasTransparency: boolean;
  /** 1–100 on the format's own scale; with these values the formats look similar (docs/images.md). `undefined`: lossless. */
  readonly quality: number | undefined;
  /** For images of every size. */
  readonly options: LibraryOptions;
  /**
   * Further options by the number of pixels: those of the first row with as many. Smaller images get more effort, so that a desktop
   * crop takes at most 150 ms of one core (docs/performance.md).
   */
  readonly efforts: readonly (readonly [maxPixels: number, options: LibraryOptions])[];
}

/** A little more than the pixels of a desktop crop that is 1,920 pixels wide. */
const SMALL_DESKTOP_PX = 650_000;
/** A little more than the pixels of the whole desktop crop. */
const DESKTOP_PX = 1_300_000;
const ANY_PX = Number.POSITIVE_INFINITY;

/** Every format of a response, one row each. */
const FORMAT_TABLE = {
  avif: {
    title: 'AVIF',
    mediaType: 'image/avif',
    extension: 'avif',
    isNegotiated: true,
    hasTransparency: true,
    quality: 62,
    options: { chromaSubsampling: '4:2:0', tune: 'ssim' },
    efforts: [
      [150_000, { effort: 3 }],
      [SMALL_DESKTOP_PX, { effort: 1 }],
      [ANY_PX, { effort: 0 }],
    ],
  },
  webp: {
    title: 'WebP',
    mediaType: 'image/webp',
    extension: 'webp',
    isNegotiated: true,
    hasTransparency: true,
    quality: 82,
    options: {},
    efforts: [
      [DESKTOP_PX, { effort: 4 }],
      [ANY_PX, { effort: 2 }],
    ],
  },
  jpeg: {
    title: 'JPEG',
    mediaType: 'image/jpeg',
    extension: 'jpg',
    isNegotiated: true,
    hasTransparency: false,
    quality: 80,
    options: {},
    efforts: [
      [DESKTOP_PX, { optimiseScans: true }],
      [ANY_PX, { optimiseCoding: true }],
    ],
  },
  // Images with transparency fall back to it, so `Accept` need not name it.
  png: {
    title: 'PNG',
    mediaType: 'image/png',
    extension: 'png',
    isNegotiated: false,
    hasTransparency: true,
    quality: undefined,
    options: { adaptiveFiltering: true },
    efforts: [
      [DESKTOP_PX, { compressionLevel: 6 }],
      [ANY_PX, { compressionLevel: 4 }],
    ],
  },
} as const satisfies Record<string, FormatRow>;

export type Format = keyof typeof FORMAT_TABLE;

export const FORMATS = Object.keys(FORMAT_TABLE) as readonly Format[];

/** The formats that `Accept` may choose, in the order of preference. */
export const NEGOTIATED_FORMATS = FORMATS.filter((format) => FORMAT_TABLE[format].isNegotiated);

/** Every name of a format in a URL: the names, and the extensions that differ from them. */
export const FORMAT_NAMES: readonly string[] = [
  ...new Set(FORMATS.flatMap((format) => [format, FORMAT_TABLE[format].extension])),
];

export function formatRow(format: Format): FormatRow {
  return FORMAT_TABLE[format];
}

/** Reads a format's name or extension. `undefined` for an unknown one. */
export function findFormat(text: string): Format | undefined {
  return FORMATS.find((format) => format === text || FORMAT_TABLE[format].extension === text);
}

/** An original with a longer side is refused. The largest JPEG has it (ITU T.81 B.2.2). A decoder needs memory for whole rows. */
export const MAX_ORIGINAL_SIDE_PX = 65_535;

/**
 * Detects the format of an original by its first bytes. `undefined` for anything but the five formats that are decoded.
 * Signatures: PNG 1.2 §3.1, JPEG (ITU T.81 B.1.1.3), GIF89a §17, RFC 9649 (WebP), AVIF 1.1 §6 (`avif`/`avis` brands).
 */
export function sniffFormat(bytes: Uint8Array): Format | 'gif' | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 64));
  if (head.length < 12) return undefined;
  const text = head.toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'gif';
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'webp';
  if (text.startsWith('ftyp', 4) && hasAvifBrand(text, head.readUInt32BE(0))) return 'avif';
  return undefined;
}

function hasAvifBrand(text: string, boxBytes: number): boolean {
  const brands = [text.slice(8, 12)];
  for (let at = 16; at + 4 <= Math.min(boxBytes, text.length); at += 4) brands.push(text.slice(at, at + 4));
  return brands.some((brand) => brand === 'avif' || brand === 'avis');
}
