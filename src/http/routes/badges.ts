import type { ParsedUrlQuery } from 'node:querystring';
import type { Channel } from '../../domain/channel.ts';
import { AppError, type CacheOutcome } from '../../domain/errors.ts';
import { type ChannelRef, isChannelId } from '../../domain/identifier.ts';
import type { ChannelService } from '../../services/channels.ts';
import type { Endpoint, HttpResponse, PathParameters } from '../request/context.ts';
import { BADGE_IMAGE_QUERY, BADGE_QUERY, type BadgeAppearance, parseQuery, readQuery } from '../request/parameters.ts';
import { cacheStatusFields, entityTag, keptForMs, publicFor } from '../response/response.ts';
import { jsonResponse } from '../response/serializers.ts';
import { parseBannerPath } from './banners.ts';

/** A count of a channel: as JSON for an endpoint badge of shields.io, and as the badge's image. */
export function badgeRoutes({ channels }: { readonly channels: ChannelService }): Endpoint<readonly ChannelRef[]>[] {
  async function load(refs: readonly ChannelRef[], query: ParsedUrlQuery) {
    const { metric = 'subscribers' } = readQuery(BADGE_QUERY, query);
    const { channel, outcome } = await channels.getChannel(refs);
    return { badge: badgeOf(channel, metric), outcome, cacheMs: Math.max(MIN_CACHE_MS, keptForMs(outcome)) };
  }

  return [
    {
      url: '/api/badge/:identifier',
      parsePath: refsOf,
      async respond(refs, { target }) {
        const { badge, outcome, cacheMs } = await load(refs, parseQuery(target.query));
        const cacheSeconds = Math.round(cacheMs / 1000);
        const body = JSON.stringify({ schemaVersion: 1, ...badge, isError: false, cacheSeconds });
        return jsonResponse(outcome, { body });
      },
    },
    {
      // After an @, only a final .svg is not part of the handle.
      url: '/api/badge/:identifier.svg',
      parsePath: refsOf,
      async respond(refs, { target }) {
        const query = parseQuery(target.query);
        const appearance = readQuery(BADGE_IMAGE_QUERY, query);
        const { badge, outcome, cacheMs } = await load(refs, query);
        return imageResponse(outcome, await drawBadge(badge, appearance), cacheMs);
      },
    },
  ];
}

function refsOf({ identifier = '' }: PathParameters): readonly ChannelRef[] {
  const [id = '', extension] = identifier.split('.', 2);
  if (extension === undefined || !isChannelId(id)) return parseBannerPath({ identifier }).refs;
  throw new AppError('invalid_parameter', 'A badge is an SVG image (/api/badge/{id}.svg) or JSON (no extension).');
}

const FIELDS = { subscribers: 'subscriberCount', views: 'viewCount', videos: 'videoCount' } as const;

/** Three digits fit on a badge: 1,284,000 is 1.28M. Never more than the real count. */
const SHORT_COUNT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 3,
  roundingMode: 'floor',
});

/** shields.io raises a shorter time to this one. */
const MIN_CACHE_MS = 300_000;

interface Badge {
  readonly label: string;
  readonly message: string;
  /** A color name of shields.io. */
  readonly color: string;
}

/** Fields of the schema of shields.io/badges/endpoint-badge (seen 2026-11). */
function badgeOf(channel: Channel, metric: keyof typeof FIELDS): Badge {
  const count = channel[FIELDS[metric]];
  if (count === null) return { label: metric, message: 'hidden', color: 'lightgrey' };
  return { label: metric, message: SHORT_COUNT.format(BigInt(count)), color: 'red' };
}

/** @returns an SVG. The library escapes texts. It is loaded for the first badge, because its table of text widths takes memory. */
async function drawBadge({ label, message, color }: Badge, appearance: BadgeAppearance): Promise<string> {
  const { makeBadge } = await import('badge-maker');
  const { style = 'flat', label: ownLabel = label, color: ownColor = color } = appearance;
  return makeBadge({ label: ownLabel, message, color: ownColor, style });
}

function imageResponse(outcome: CacheOutcome, body: string, cacheMs: number): HttpResponse {
  const headers = {
    'content-type': 'image/svg+xml',
    'cache-control': publicFor(cacheMs),
    ...cacheStatusFields(outcome),
    // An SVG that is opened as a page can run scripts. This one has none, and may not.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    etag: entityTag(body),
  };
  return { status: 200, headers, body, cache: outcome.kind, freshMs: outcome.ttlMs };
}
