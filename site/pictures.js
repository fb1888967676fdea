/**
 * @typedef {'default' | 'tv' | 'desktop' | 'tablet' | 'mobile' | 'avatar'} Variant
 * @typedef {'auto' | 'avif' | 'webp' | 'jpeg' | 'png'} Format
 * @typedef {object} PictureChoice
 * @property {Variant} variant
 * @property {Format} format
 * @property {string} width digits, empty for the picture's own
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

/** What browsers say of themselves when an `<img>` asks. */
export const BROWSER_ACCEPT = 'image/avif,image/webp,image/png,image/*;q=0.8,*/*;q=0.5';

/**
 * The picture's public URL, `undefined` where the channel has none.
 *
 * @param {ChannelRecord} record
 * @param {PictureChoice} choice
 */
export function pictureUrl(record, { variant, format, width, height, quality }) {
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
 * The same picture by the instance's address: its public name may not be reachable from here.
 *
 * @param {string} instance
 * @param {string} publicUrl
 */
export function throughInstance(instance, publicUrl) {
  const { pathname, search } = new URL(publicUrl);
  return `${instance}${pathname}${search}`;
}
