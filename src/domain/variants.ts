export const VARIANTS = ['default', 'tv', 'desktop', 'tablet', 'mobile', 'avatar'] as const;
export type Variant = (typeof VARIANTS)[number];

/** Which of a channel's two originals a picture is cut from. */
export type ImageKind = 'banner' | 'avatar';

interface VariantPreset {
  readonly kind: ImageKind;
  /** The visible part of an original of the reference size, in pixels; it is centred, and scales with the original. */
  readonly visible: Size;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The recommended banner: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). */
export const REFERENCE_BANNER: Size = { width: 2560, height: 1440 };

/** Visible areas per device on a 2560×1440 banner: YouTube's Channel Art guidelines (2013), unchanged since. */
export const VARIANT_PRESETS: Record<Variant, VariantPreset> = {
  default: { kind: 'banner', visible: { width: 2560, height: 423 } },
  tv: { kind: 'banner', visible: { width: 2560, height: 1440 } },
  desktop: { kind: 'banner', visible: { width: 2560, height: 423 } },
  tablet: { kind: 'banner', visible: { width: 1855, height: 423 } },
  mobile: { kind: 'banner', visible: { width: 1546, height: 423 } },
  avatar: { kind: 'avatar', visible: { width: 1, height: 1 } },
};

export function isVariant(text: string): text is Variant {
  return (VARIANTS as readonly string[]).includes(text);
}
