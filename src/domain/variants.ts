/** Which of a channel's two originals an image is cut from. */
export const IMAGE_KINDS = ['banner', 'avatar'] as const;
export type ImageKind = (typeof IMAGE_KINDS)[number];

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The recommended banner: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). */
export const REFERENCE_BANNER: Size = { width: 2560, height: 1440 };

interface VariantRow {
  readonly kind: ImageKind;
  /** Of a banner: the part of the reference banner, in pixels. Of an avatar: the ratio. */
  readonly visible: Size;
  /** The name in a list of choices. */
  readonly title: string;
  /** What the image shows, for the documents. */
  readonly description: string;
}

/**
 * Every variant, one row each, in the order of a record's `bannerUrls`. The visible areas are those of YouTube's Channel Art
 * guidelines (2013), unchanged since. They are centred, and scale with the original.
 */
const VARIANT_TABLE = {
  default: {
    kind: 'banner',
    visible: { width: 2560, height: 423 },
    title: 'Default',
    description: 'The default banner',
  },
  tv: {
    kind: 'banner',
    visible: { width: 2560, height: 1440 },
    title: 'TV',
    description: 'The whole banner',
  },
  desktop: {
    kind: 'banner',
    visible: { width: 2560, height: 423 },
    title: 'Desktop',
    description: 'The part that desktops show',
  },
  tablet: {
    kind: 'banner',
    visible: { width: 1855, height: 423 },
    title: 'Tablet',
    description: 'The part that tablets show',
  },
  mobile: {
    kind: 'banner',
    visible: { width: 1546, height: 423 },
    title: 'Phone',
    description: 'The part that phones show',
  },
  avatar: {
    kind: 'avatar',
    visible: { width: 1, height: 1 },
    title: 'Avatar',
    description: 'The avatar',
  },
} as const satisfies Record<string, VariantRow>;

export type Variant = keyof typeof VARIANT_TABLE;

export const VARIANTS = Object.keys(VARIANT_TABLE) as readonly Variant[];

export function variantRow(variant: Variant): VariantRow {
  return VARIANT_TABLE[variant];
}

export function isVariant(text: string): text is Variant {
  return (VARIANTS as readonly string[]).includes(text);
}

/**
 * No side of an image is longer. Larger images would take seconds and hundreds of megabytes to encode, and no common screen
 * shows them in full.
 */
export const MAX_SIDE_PX = 4_096;

/**
 * With `contain` and both sides, an image has at most the pixels of a square with this side. It is as large as the request says,
 * whatever the size of the original, and more pixels would take most of a second.
 */
export const MAX_PADDED_SQUARE_PX = 2_048;

/** A part of an image in whole pixels of the original, after its orientation was applied. */
export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}

export const FITS = ['cover', 'contain'] as const;
export type Fit = (typeof FITS)[number];

/** The size that a client requests, in pixels, at most `MAX_SIDE_PX`. A missing side follows from the other one. */
interface WantedSize {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** With both sides: `cover` (the default) cuts the crop to their ratio, `contain` shows all of it inside them. */
  readonly fit?: Fit | undefined;
}

/** `RRGGBB` in lower case, or `transparent`. */
export type Background = string;

/** How an image is placed on a background. */
export interface Backdrop {
  /** The image's size. It is in the centre. */
  readonly inner: Size;
  readonly background: Background;
}

interface ResolvedOutput {
  /** The part of the original that is shown. */
  readonly crop: Rectangle;
  readonly output: Size;
  /** With `contain`: the size of that part in the centre of the output. */
  readonly inner?: Size;
}

const BANNER_RATIO = REFERENCE_BANNER.width / REFERENCE_BANNER.height;
const BANNER_RATIO_TOLERANCE = 0.02;

/**
 * The part of an original that a variant shows: centred, inside the original, at least 1×1, with equal margins (±1 pixel).
 * A 16:9 banner (±2 %) is cropped by the fractions of the reference banner, any other banner to the aspect ratio of the
 * variant. An avatar becomes a square.
 */
export function cropOf(variant: Variant, source: Size): Rectangle {
  const { kind, visible } = variantRow(variant);
  const whole = { left: 0, top: 0, ...source };
  if (kind === 'avatar' || !isBannerShaped(source)) return largestOfRatio(whole, visible);
  const width = (source.width * visible.width) / REFERENCE_BANNER.width;
  const height = (source.height * visible.height) / REFERENCE_BANNER.height;
  return centred(whole, { width, height });
}

/**
 * The part of a crop that is shown at the wanted size, and the size of the output. With both sides given: the largest
 * rectangle of their ratio, scaled down to fit, or, with `contain`, the whole crop scaled down to fit and padded to exactly
 * that size. A crop is never enlarged: without `contain`, every larger size resolves to the same output, so caches store one
 * image. No side of the output is longer than `MAX_SIDE_PX`.
 */
export function resolveOutput(crop: Rectangle, wanted: WantedSize): ResolvedOutput {
  const { width, height, fit } = wanted;
  if (width !== undefined && height !== undefined && fit === 'contain') {
    const inner = scaled(crop, Math.min(1, width / crop.width, height / crop.height));
    return { crop, output: { width, height }, inner };
  }
  if (width !== undefined && height !== undefined) {
    const part = largestOfRatio(crop, { width, height });
    const fits = width <= part.width && height <= part.height;
    return { crop: part, output: fits ? { width, height } : scaled(part, 1) };
  }
  const factor = Math.min(1, (width ?? MAX_SIDE_PX) / crop.width, (height ?? MAX_SIDE_PX) / crop.height);
  return { crop, output: scaled(crop, factor) };
}

export function isSameSize(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height;
}

function isBannerShaped(source: Size): boolean {
  return Math.abs(source.width / source.height / BANNER_RATIO - 1) <= BANNER_RATIO_TOLERANCE;
}

function largestOfRatio(area: Rectangle, ratio: Size): Rectangle {
  const scale = Math.min(area.width / ratio.width, area.height / ratio.height);
  return centred(area, { width: ratio.width * scale, height: ratio.height * scale });
}

function centred(area: Rectangle, part: Size): Rectangle {
  const { width, height } = scaled(part, 1);
  return {
    left: area.left + Math.floor((area.width - width) / 2),
    top: area.top + Math.floor((area.height - height) / 2),
    width,
    height,
  };
}

/** In whole pixels, at least one in each direction. */
function scaled({ width, height }: Size, factor: number): Size {
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}
