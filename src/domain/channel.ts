/**
 * The original of an image as plain data: the location of its bytes, and their key.
 *
 * `key` changes when the image changes: a source derives it from YouTube’s URL without its size options, the catalog
 * from the file's size and time.
 */
export type OriginalRef = RemoteImage | CatalogImage;

/** An image that is loaded over https. The next URL is tried only after a definite 4xx or an unusable image. */
export interface RemoteImage {
  readonly kind: 'remote';
  readonly key: string;
  readonly urls: readonly string[];
}

/** The hosts from which YouTube serves channel images: `yt3.ggpht.com`, `lh3.googleusercontent.com` (seen 2026-11). */
const SIZED_IMAGE_ORIGIN = /^https:\/\/(?:[a-z0-9-]+\.)+(?:ggpht|googleusercontent)\.com$/;
/** Where the avatar of the system channel "Movies & TV" is (seen 2026-11). */
const FIXED_IMAGES = 'https://www.gstatic.com/youtube/';

/** True for the URL of an image that its host serves in any size. Size and crop options follow a `=`. */
export function isSizedImageUrl(url: URL): boolean {
  return SIZED_IMAGE_ORIGIN.test(url.origin);
}

/** True for a URL from which a channel image may be loaded. */
export function isImageUrl(url: URL): boolean {
  return isSizedImageUrl(url) || url.href.startsWith(FIXED_IMAGES);
}

/** A file in `images/` of the catalog's folder. `fileName` has no path. */
export interface CatalogImage {
  readonly kind: 'catalog-file';
  readonly key: string;
  readonly fileName: string;
}

export interface ChannelLink {
  readonly title: string;
  /** Absolute, http or https. */
  readonly url: string;
}

/**
 * The data of a channel. `null` means unknown or hidden, `""` and `[]` mean known to be empty. `undefined` never occurs,
 * so that a record can be converted to JSON and back.
 */
export interface Channel {
  readonly channelId: string;
  /** The title as one line, made by `plainTitle`. */
  readonly title: string;
  readonly description: string | null;
  /** The handle with its leading `@`, in YouTube’s letter case. */
  readonly customUrl: string | null;
  /** `YYYY-MM-DDThh:mm:ssZ`. */
  readonly publishedAt: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** Decimal integers as strings, because they may exceed 32 bits. */
  readonly subscriberCount: string | null;
  readonly viewCount: string | null;
  readonly videoCount: string | null;
  readonly links: readonly ChannelLink[] | null;
  /** `null`: the channel has none. */
  readonly banner: OriginalRef | null;
  readonly avatar: OriginalRef | null;
}

const LINE_BREAKS = /[\t\n\v\f\r\u0085\p{Zl}\p{Zp}]+/gu;
/** Other controls, and the embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX #9, 2). */
const CONTROLS = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A title as one line of well-formed Unicode that does not change the direction of the text around it: a line break becomes a
 * space, half a surrogate pair becomes U+FFFD, other controls are removed. Marks that letters of right-to-left scripts need (U+061C, U+200E, U+200F) stay.
 */
export function plainTitle(title: string): string {
  const plain = title.toWellFormed().replace(LINE_BREAKS, ' ').replace(CONTROLS, '');
  return plain === title ? title : plain.trim();
}

/** What a channel's feed says, with the values of the page that it was loaded beside. */
export interface FeedValues extends Pick<Channel, 'title' | 'publishedAt'> {
  readonly page: Pick<Channel, 'title' | 'publishedAt'>;
}

/** What the last load of a channel found. */
export interface KnownChannel {
  readonly channel: Channel;
  readonly feed?: FeedValues | undefined;
}

/** The most search results that a request may want, and that a source is asked for. */
export const MAX_HITS = 20;

/** A channel in search results. It often has fewer fields than the record. */
export interface SearchHit
  extends Pick<Channel, 'channelId' | 'title' | 'description' | 'customUrl' | 'subscriberCount' | 'videoCount'> {
  /** `unknown` if the search result has no such information. The response then has the URL where the image would be. */
  readonly banner: 'present' | 'absent' | 'unknown';
  readonly avatar: 'present' | 'absent' | 'unknown';
}

/** The search result of a channel whose record is known. */
export function hitOf(channel: Channel): SearchHit {
  const { channelId, title, description, customUrl, subscriberCount, videoCount, banner, avatar } = channel;
  return {
    channelId,
    title,
    description,
    customUrl,
    subscriberCount,
    videoCount,
    banner: banner === null ? 'absent' : 'present',
    avatar: avatar === null ? 'absent' : 'present',
  };
}

/** True for a text that has the form of `Channel.publishedAt` and is a time that exists. */
export function isPublishedAt(value: unknown): value is string {
  const hasForm = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
  return hasForm && new Date(value).toJSON() === value.replace('Z', '.000Z');
}

/** A channel that the documents and pages of this instance can show. */
export interface ExampleChannel {
  readonly channelId: string;
  readonly title: string;
  /** The handle with its `@`; `null` if the channel has none. */
  readonly handle: string | null;
  readonly hasBanner: boolean;
  readonly hasAvatar: boolean;
}
