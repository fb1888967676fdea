/**
 * @typedef {'default' | 'tv' | 'desktop' | 'tablet' | 'mobile' | 'avatar'} Variant
 * @typedef {'auto' | 'avif' | 'webp' | 'jpeg' | 'png'} Format
 * @typedef {object} ImageChoice
 * @property {Variant} variant
 * @property {Format} format
 * @property {string} width digits, empty for the image's own
 * @property {string} height
 * @property {string} quality
 *
 * @typedef {object} ChannelRecord
 * @property {string} channelId
 * @property {string} title
 * @property {string | null} description
 * @property {string | null} customUrl
 * @property {string | null} publishedAt
 * @property {string | null} country
 * @property {string | null} subscriberCount
 * @property {string | null} viewCount
 * @property {string | null} videoCount
 * @property {string | null} bannerUrl
 * @property {string | null} avatarUrl
 * @property {Record<Variant, string | null>} bannerUrls
 * @property {{ title: string, url: string }[]} links
 */

/** @type {readonly { variant: Variant, label: string }[]} */
export const VARIANTS = [
  { variant: 'tv', label: 'TV' },
  { variant: 'desktop', label: 'Desktop' },
  { variant: 'tablet', label: 'Tablet' },
  { variant: 'mobile', label: 'Phone' },
  { variant: 'avatar', label: 'Avatar' },
  { variant: 'default', label: 'Default' },
];

/** @type {readonly { format: Format, label: string }[]} */
export const FORMATS = [
  { format: 'auto', label: 'Auto' },
  { format: 'avif', label: 'AVIF' },
  { format: 'webp', label: 'WebP' },
  { format: 'jpeg', label: 'JPEG' },
  { format: 'png', label: 'PNG' },
];

/** Widths that pages use most. The middle one of a banner, and the last one of an avatar, is the usual width. */
const PRESET_WIDTHS = { banner: ['640', '1280', '2560'], avatar: ['48', '96', '176'] };
const USUAL_WIDTH = { banner: '1280', avatar: '176' };

/** The `Accept` that browsers send for an `<img>`. */
export const BROWSER_ACCEPT = 'image/avif,image/webp,image/png,image/*;q=0.8,*/*;q=0.5';

/**
 * Whether a JSON document has the fields that the page needs.
 *
 * @param {unknown} response
 * @returns {response is ChannelRecord}
 */
export function isRecord(response) {
  const { channelId, title, bannerUrls } = /** @type {Record<string, unknown>} */ (response ?? {});
  return typeof channelId === 'string' && typeof title === 'string' && typeof bannerUrls === 'object';
}

/** @param {Variant} variant */
export function kindOf(variant) {
  return variant === 'avatar' ? 'avatar' : 'banner';
}

/** @param {Variant} variant */
export function presetWidths(variant) {
  return PRESET_WIDTHS[kindOf(variant)];
}

/** @param {Variant} variant */
export function usualWidth(variant) {
  return USUAL_WIDTH[kindOf(variant)];
}

/**
 * The variant that is shown first.
 *
 * @param {ChannelRecord} record
 * @returns {Variant}
 */
export function firstVariant({ bannerUrl }) {
  return bannerUrl === null ? 'avatar' : 'tv';
}

/**
 * The image's public URL, `undefined` if the channel has none.
 *
 * @param {ChannelRecord} record
 * @param {ImageChoice} choice
 */
export function imageUrl(record, { variant, format, width, height, quality }) {
  const own = record.bannerUrls[variant];
  if (own === null) return undefined;
  const url = new URL(own);
  if (format !== 'auto') url.searchParams.set('format', format);
  if (width !== '') url.searchParams.set('width', width);
  if (height !== '') url.searchParams.set('height', height);
  if (quality !== '' && format !== 'png') url.searchParams.set('quality', quality);
  return url.href;
}

/**
 * The same resource at the instance's address: its public name may not be reachable from here.
 *
 * @param {string} instance
 * @param {string} publicUrl
 */
export function throughInstance(instance, publicUrl) {
  const { pathname, search } = new URL(publicUrl);
  return `${instance}${pathname}${search}`;
}

/**
 * The text alternative of an image: "Banner of …" or "Avatar of …".
 *
 * @param {ChannelRecord} record
 * @param {Variant} variant
 */
export function altOf({ title }, variant) {
  return `${variant === 'avatar' ? 'Avatar' : 'Banner'} of ${title}`;
}
