import type { Registry } from '@prometheus-io/client';
import { LRUCache } from 'lru-cache';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { Channel, SearchHit } from '../../domain/channel.ts';
import { VARIANTS, type Variant } from '../../domain/variants.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import { addBoundGauges } from '../../lib/metrics.ts';
import type { PublicResponse } from '../request/context.ts';
import { entityTag } from './conditions.ts';
import { cacheStatusFields, JSON_MEDIA_TYPE, keptForMs, publicFor } from './fields.ts';

/** Form B has path segments for these. The others are written as a `type`. */
const SHORT_SEGMENTS: ReadonlySet<Variant> = new Set<Variant>(['avatar', 'tv', 'mobile']);

export interface ImageUrlStyle {
  /** `api`: form A (`/api/banner/{id}?type=tv`). `short`: form B (`/{id}/tv`). */
  readonly urlForm: 'api' | 'short';
}

function imageUrl(base: string, channelId: string, variant: Variant, { urlForm }: ImageUrlStyle): string {
  const isSegment = urlForm === 'short' && SHORT_SEGMENTS.has(variant);
  const path = `${base}${urlForm === 'api' ? '/api/banner' : ''}/${channelId}${isSegment ? `/${variant}` : ''}`;
  return variant === 'default' || isSegment ? path : `${path}?type=${variant}`;
}

/** The channel record in responses: always all 13 fields, in this order. */
function recordOf(channel: Channel, base: string, style: ImageUrlStyle): object {
  const urlEntries = VARIANTS.map((variant) => {
    const image = variant === 'avatar' ? channel.avatar : channel.banner;
    return [variant, image && imageUrl(base, channel.channelId, variant, style)] as const;
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
export function searchResultOf(hit: SearchHit, base: string, style: ImageUrlStyle): object {
  const { channelId, title, description, customUrl, subscriberCount, videoCount } = hit;
  const urlOf = (variant: Variant) => imageUrl(base, channelId, variant, style);
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

interface JsonBody extends Pick<PublicResponse, 'bodyEncoding'> {
  readonly body: string;
  /** Default: that of the body in UTF-8. */
  readonly etag?: string;
}

/**
 * The response with JSON of a looked-up value, its age and its origin.
 *
 * @param outcome `undefined` if nothing was looked up
 */
export function jsonResponse(
  outcome: CacheOutcome | undefined,
  { body, bodyEncoding, etag = entityTag(body) }: JsonBody,
  cacheControl = outcome === undefined ? 'no-store' : publicFor(keptForMs(outcome)),
): PublicResponse {
  const headers = {
    'content-type': JSON_MEDIA_TYPE,
    'cache-control': cacheControl,
    ...(outcome && cacheStatusFields(outcome)),
    etag,
  };
  return { status: 200, headers, body, bodyEncoding, cache: outcome?.kind, freshMs: outcome?.ttlMs };
}

/** The JSON of a channel's record, made once for each record and base URL while there is room. */
export type RecordBodyOf = (channel: Channel, base: string) => JsonBody;

interface RecordBodiesOptions extends ImageUrlStyle {
  readonly maxBytes?: number;
  readonly metrics: Registry;
}

interface Prepared {
  readonly content: JsonBody;
  /** A refreshed record is another object. Weak: the cache of records decides how long a record is kept. */
  readonly channel: WeakRef<Channel>;
}

/** About 3,000 records. Creating one again takes about as long as sending it. */
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
/** The objects of an entry, its ETag and the cache’s own lists (320 measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 400;

export function createRecordBodies(options: RecordBodiesOptions): RecordBodyOf {
  const { maxBytes = DEFAULT_MAX_BYTES, metrics } = options;
  const prepared = new LRUCache<string, Prepared>({
    maxSize: maxBytes,
    sizeCalculation: ({ content }, key) => ENTRY_OVERHEAD_BYTES + key.length + content.body.length,
  });
  addBoundGauges(metrics, 'pennant_record_json', 'JSON of records', () => ({
    entries: prepared.size,
    bytes: prepared.calculatedSize,
    maxBytes,
  }));

  return (channel, base) => {
    const key = `${base} ${channel.channelId}`;
    const known = prepared.get(key);
    if (known !== undefined && known.channel.deref() === channel) return known.content;
    const json = Buffer.from(JSON.stringify(recordOf(channel, base, options)));
    // The UTF-8 bytes, one per character: Node writes such a text directly, together with the header section.
    const content = { body: json.toString('latin1'), bodyEncoding: 'latin1', etag: entityTag(json) } as const;
    prepared.set(compactCopy(key), { content, channel: new WeakRef(channel) });
    return content;
  };
}
