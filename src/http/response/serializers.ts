import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { Channel, SearchHit } from '../../domain/channel.ts';
import { VARIANTS, type Variant, variantRow } from '../../domain/variants.ts';
import type { PublicResponse } from '../request/context.ts';
import { taggedResponse } from './conditions.ts';
import { cacheStatusFields, JSON_MEDIA_TYPE, keptForMs, publicFor } from './fields.ts';

/** Form B has path segments for these. The others are written as a `type`. */
const SHORT_SEGMENTS: ReadonlySet<Variant> = new Set<Variant>(['avatar', 'tv', 'mobile']);

/** `api`: form A (`/api/banner/{id}?type=tv`). `short`: form B (`/{id}/tv`). */
export type UrlForm = 'api' | 'short';

function imageUrl(base: string, channelId: string, variant: Variant, urlForm: UrlForm): string {
  const path = urlForm === 'api' ? `${base}/api/banner/${channelId}` : `${base}/${channelId}`;
  if (variant === 'default') return path;
  const isSegment = urlForm === 'short' && SHORT_SEGMENTS.has(variant);
  return isSegment ? `${path}/${variant}` : `${path}?type=${variant}`;
}

/** The channel record in responses: always all 13 fields, in this order. */
export function recordOf(channel: Channel, base: string, urlForm: UrlForm): object {
  const urlEntries = VARIANTS.map((variant) => {
    const image = channel[variantRow(variant).kind];
    return [variant, image && imageUrl(base, channel.channelId, variant, urlForm)] as const;
  });
  const urls = Object.fromEntries(urlEntries) as Record<Variant, string | null>;
  return {
    channelId: channel.channelId,
    title: channel.title,
    description: channel.description,
    customUrl: channel.customUrl,
    publishedAt: channel.publishedAt,
    country: channel.country,
    subscriberCount: channel.subscriberCount,
    viewCount: channel.viewCount,
    videoCount: channel.videoCount,
    bannerUrl: urls.default,
    avatarUrl: urls.avatar,
    bannerUrls: urls,
    // Always an array, because clients iterate over it without a check.
    links: channel.links ?? [],
  };
}

/** A search result. An image's URL is null only when it is known that there is none. */
export function searchResultOf(hit: SearchHit, base: string, urlForm: UrlForm): object {
  const { channelId, title, description, customUrl, subscriberCount, videoCount } = hit;
  const urlOf = (variant: Variant) => imageUrl(base, channelId, variant, urlForm);
  return {
    channelId,
    title,
    description,
    customUrl,
    subscriberCount,
    videoCount,
    bannerUrl: hit.banner === 'absent' ? null : urlOf('default'),
    avatarUrl: hit.avatar === 'absent' ? null : urlOf('avatar'),
  };
}

/**
 * The response with JSON of a looked-up value, its age and its origin.
 *
 * @param outcome `undefined` if nothing was looked up
 */
export function jsonResponse(
  outcome: CacheOutcome | undefined,
  content: object,
  cacheControl = outcome === undefined ? 'no-store' : publicFor(keptForMs(outcome)),
): PublicResponse {
  const headers = { 'content-type': JSON_MEDIA_TYPE, 'cache-control': cacheControl, ...cacheStatusFields(outcome) };
  return taggedResponse(headers, JSON.stringify(content), outcome);
}
