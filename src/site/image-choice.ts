import { FORMATS, type Format, titleOfFormat } from '../domain/formats.ts';
import { type Fit, type ImageKind, VARIANT_PRESETS, type Variant } from '../domain/variants.ts';

export interface ImageChoice {
  readonly variant: Variant;
  readonly format: Format | 'auto';
  /** Digits, empty for the image's own. */
  readonly width: string;
  readonly height: string;
  readonly quality: string;
  /** Has an effect with both width and height. */
  readonly fit: Fit;
  /** Of the padding: hex digits or `transparent`; empty for the instance's default. */
  readonly background: string;
}

export interface ChannelRecord {
  readonly channelId: string;
  readonly title: string;
  readonly description: string | null;
  readonly customUrl: string | null;
  readonly publishedAt: string | null;
  readonly country: string | null;
  readonly subscriberCount: string | null;
  readonly viewCount: string | null;
  readonly videoCount: string | null;
  readonly bannerUrl: string | null;
  readonly avatarUrl: string | null;
  readonly bannerUrls: Record<Variant, string | null>;
  readonly links: { title: string; url: string }[];
}

export const VARIANT_CHOICES: readonly { variant: Variant; label: string }[] = [
  { variant: 'tv', label: 'TV' },
  { variant: 'desktop', label: 'Desktop' },
  { variant: 'tablet', label: 'Tablet' },
  { variant: 'mobile', label: 'Phone' },
  { variant: 'avatar', label: 'Avatar' },
  { variant: 'default', label: 'Default' },
];

export const FORMAT_CHOICES: readonly { format: Format | 'auto'; label: string }[] = [
  { format: 'auto', label: 'Auto' },
  ...FORMATS.map((format) => ({ format, label: titleOfFormat(format) })),
];

/** The widths that pages use most. */
const PRESET_WIDTHS = { banner: ['640', '1280', '2560'], avatar: ['48', '96', '176'] };
const USUAL_WIDTH = { banner: '1280', avatar: '176' };

/** The `Accept` that browsers send for an `<img>`. */
export const BROWSER_ACCEPT = 'image/avif,image/webp,image/png,image/*;q=0.8,*/*;q=0.5';

/** Whether a JSON document has the fields that the page needs. */
export function isRecord(response: unknown): response is ChannelRecord {
  const { channelId, title, bannerUrls } = (response ?? {}) as Record<string, unknown>;
  return typeof channelId === 'string' && typeof title === 'string' && typeof bannerUrls === 'object';
}

export function kindOf(variant: Variant): ImageKind {
  return VARIANT_PRESETS[variant].kind;
}

export function presetWidths(variant: Variant) {
  return PRESET_WIDTHS[kindOf(variant)];
}

export function usualWidth(variant: Variant) {
  return USUAL_WIDTH[kindOf(variant)];
}

/** The variant that is shown first. */
export function firstVariant({ bannerUrl }: ChannelRecord): Variant {
  return bannerUrl === null ? 'avatar' : 'tv';
}

/** The channel as a segment of a path: its handle, otherwise its ID. */
export function nameInPath({ customUrl, channelId }: Pick<ChannelRecord, 'customUrl' | 'channelId'>) {
  return customUrl?.startsWith('@') ? `@${encodeURIComponent(customUrl.slice(1))}` : channelId;
}

/**
 * The image's public URL in its short form, `undefined` if the channel has none. The form in the record contains "banner",
 * which filter lists of ad blockers block.
 */
export function imageUrl(
  record: ChannelRecord,
  { variant, format, width, height, quality, fit, background }: ImageChoice,
) {
  const own = record.bannerUrls[variant];
  if (own === null) return undefined;
  const url = new URL(own);
  url.pathname = `/${nameInPath(record)}/${variant}${format === 'auto' ? '' : `.${format}`}`;
  url.searchParams.delete('type');
  if (width !== '') url.searchParams.set('width', width);
  if (height !== '') url.searchParams.set('height', height);
  if (quality !== '' && format !== 'png') url.searchParams.set('quality', quality);
  const isPadded = fit === 'contain' && width !== '' && height !== '';
  if (isPadded) url.searchParams.set('fit', fit);
  if (isPadded && background !== '') url.searchParams.set('background', background);
  return url.href;
}

/** The same resource at the address that the page uses: the public address may not be reachable from here. */
export function throughInstance(instance: string, publicUrl: string) {
  const { pathname, search } = new URL(publicUrl);
  return `${instance}${pathname}${search}`;
}

/** The text alternative of an image: "Banner of …" or "Avatar of …". */
export function altOf({ title }: ChannelRecord, variant: Variant) {
  return `${kindOf(variant) === 'avatar' ? 'Avatar' : 'Banner'} of ${title}`;
}
