import type { ChannelService } from '../../channels/channels.ts';
import { type BadgeMetric, metricRow } from '../../domain/badges.ts';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { Channel } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { type Identifier, isChannelId } from '../../domain/identifier.ts';
import { type Badge, drawBadge } from '../badges/image.ts';
import {
  BADGE_IMAGE_QUERY,
  BADGE_QUERY,
  type BadgeAppearance,
  RETIRED_BADGE_QUERY,
  RETIRED_JSON_QUERY,
} from '../badges/parameters.ts';
import { defineEndpoint, type Endpoint, type PathParameters, type PublicResponse } from '../request/context.ts';
import { InvalidParameter } from '../request/parameters.ts';
import { taggedResponse } from '../response/conditions.ts';
import { cacheStatusFields, keptForMs, publicFor } from '../response/fields.ts';
import { jsonResponse } from '../response/serializers.ts';
import { IDENTIFIER, parseBareIdentifier } from './channels.ts';

/** A count of a channel: as JSON for an endpoint badge of shields.io, and as the badge's image. */
export function badgeRoutes(channels: ChannelService): Endpoint[] {
  async function load(identifiers: readonly Identifier[], metric: BadgeMetric) {
    const { channel, outcome } = await channels.getChannel(identifiers, { softTimeoutMs: SOFT_TIMEOUT_MS });
    return { channel, badge: badgeOf(channel, metric), outcome, cacheMs: Math.max(MIN_CACHE_MS, keptForMs(outcome)) };
  }

  async function respondWithImage(
    identifiers: readonly Identifier[],
    metric: BadgeMetric,
    appearance: BadgeAppearance,
  ) {
    const { badge, outcome, cacheMs } = await load(identifiers, metric);
    return imageResponse(drawBadge(badge, appearance), cacheMs, outcome);
  }

  /** A badge with 200, because image proxies show nothing for another status. */
  async function respondToError(error: AppError, metric: BadgeMetric, appearance: BadgeAppearance) {
    const grey = { ...appearance, color: undefined, labelColor: undefined };
    const svg = drawBadge({ label: metric, message: errorMessageOf(error), color: GREY }, grey);
    return imageResponse(svg, ERROR_CACHE_MS, error.outcome);
  }

  /** The path of a badge that shields.io retired in August 2026 (badges/shields#12113). */
  function retiredBadge(metric: BadgeMetric): Endpoint {
    return defineEndpoint({
      url: `/youtube/channel/${metric}/:identifier`,
      id: `${metricRow(metric).title}Badge`,
      tag: 'images',
      summary: `The ${metric} badge that shields.io retired`,
      description: 'By default, the style is `social`, and only this style has the logo. The path may end in `.svg`.',
      pathParameters: { identifier: IDENTIFIER },
      query: RETIRED_BADGE_QUERY,
      returns: 'BadgeImage',
      responseMs: BADGE_IMAGE_MS,
      example: ({ channelId }) => `/youtube/channel/${metric}/${channelId}`,
      parsePath: ({ identifier }) => identifiersOf({ identifier: identifier?.replace(/\.svg$/, '') }),
      respond: ({ path, query }) => respondWithImage(path, metric, withDefaultLogo(query)),
      respondToError: (error, query) => respondToError(error, metric, withDefaultLogo(query)),
    });
  }

  /** What shields.io returned at the same path with `.json`. */
  function retiredJson(metric: BadgeMetric): Endpoint {
    return defineEndpoint({
      url: `/youtube/channel/${metric}/:identifier.json`,
      id: `${metricRow(metric).title}BadgeJson`,
      tag: 'channels',
      summary: `The JSON of the ${metric} badge that shields.io retired`,
      description: 'An error is JSON with its own status.',
      pathParameters: { identifier: IDENTIFIER },
      query: RETIRED_JSON_QUERY,
      returns: 'RetiredBadge',
      example: ({ channelId }) => `/youtube/channel/${metric}/${channelId}.json`,
      parsePath: identifiersOf,
      async respond({ path, query }) {
        const { channel, badge, outcome } = await load(path, metric);
        const { label = badge.label, color = badge.color } = query;
        const { message } = badge;
        const link = [`https://www.youtube.com/channel/${channel.channelId}`];
        return jsonResponse(outcome, { label, message, color, link, name: label, value: message });
      },
    });
  }

  return [
    defineEndpoint({
      url: '/api/badge/:identifier',
      id: 'Badge',
      tag: 'channels',
      summary: 'A count for a shields.io badge',
      description:
        'shields.io draws the badge at `https://img.shields.io/endpoint?url=…`. A count has three digits and is rounded down: ' +
        '1,284,000 is 1.28M.',
      pathParameters: { identifier: IDENTIFIER },
      query: BADGE_QUERY,
      returns: 'Badge',
      example: ({ channelId }) => `/api/badge/${channelId}`,
      parsePath: identifiersOf,
      async respond({ path, query }) {
        const { badge, outcome, cacheMs } = await load(path, query.metric);
        const cacheSeconds = Math.round(cacheMs / 1000);
        return jsonResponse(outcome, { schemaVersion: 1, ...badge, isError: false, cacheSeconds });
      },
    }),
    defineEndpoint({
      // After an @, only a final .svg is not part of the handle.
      url: '/api/badge/:identifier.svg',
      id: 'BadgeImage',
      tag: 'images',
      summary: 'A count as the image of a badge',
      description:
        'The badge is drawn as shields.io draws it, and may be cached for at least five minutes. An error is a grey badge with 200 and ' +
        '`max-age=60`: "not found", "unavailable" (also if the count takes longer than 3 s), "not available" (a take-down), ' +
        '"invalid color". The rate limit and malformed HTTP are JSON.',
      pathParameters: { identifier: IDENTIFIER },
      query: BADGE_IMAGE_QUERY,
      returns: 'BadgeImage',
      responseMs: BADGE_IMAGE_MS,
      example: ({ channelId }) => `/api/badge/${channelId}.svg`,
      parsePath: identifiersOf,
      respond: ({ path, query: { metric, ...appearance } }) => respondWithImage(path, metric, appearance),
      respondToError: (error, { metric, ...appearance }) => respondToError(error, metric, appearance),
    }),
    retiredBadge('subscribers'),
    retiredBadge('views'),
    retiredJson('subscribers'),
    retiredJson('views'),
  ];
}

/** As at shields.io, only the style `social` has the logo by default. */
function withDefaultLogo(appearance: BadgeAppearance): BadgeAppearance {
  return { ...appearance, logo: appearance.logo ?? (appearance.style === 'social' ? 'youtube' : 'none') };
}

function identifiersOf({ identifier = '' }: PathParameters): readonly Identifier[] {
  const [id = '', extension] = identifier.split('.', 2);
  if (extension === undefined || !isChannelId(id)) return parseBareIdentifier(identifier);
  throw new AppError('invalid_parameter', 'A badge is an SVG image (/api/badge/{id}.svg) or JSON (no extension).');
}

/** 1,284,000 is 1.28M. Rounded down, so that a badge never shows more than the real count. */
const SHORT_COUNT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 3,
  roundingMode: 'floor',
});

/** GitHub's image proxy gives up after 4 s, and keeps that failure. */
export const BADGE_IMAGE_MS = 3_000;
/** Then a stale count is in time, even if the store is slow. */
const SOFT_TIMEOUT_MS = 2_000;

/** shields.io raises a shorter time to this one. */
const MIN_CACHE_MS = 300_000;
const ERROR_CACHE_MS = 60_000;
const GREY = 'lightgrey';

/** Fields of the schema of shields.io/badges/endpoint-badge (seen 2026-11). */
function badgeOf(channel: Channel, metric: BadgeMetric): Badge {
  const count = channel[metricRow(metric).field];
  if (count === null) return { label: metric, message: 'hidden', color: GREY };
  // shields.io writes the SI prefix for a thousand.
  return { label: metric, message: SHORT_COUNT.format(BigInt(count)).replace('K', 'k'), color: 'red' };
}

function errorMessageOf(error: AppError): string {
  const { code } = error;
  if (code === 'invalid_parameter') return `invalid ${error instanceof InvalidParameter ? error.parameter : 'channel'}`;
  if (code === 'channel_not_found') return 'not found';
  return code === 'channel_blocked' ? 'not available' : 'unavailable';
}

function imageResponse(body: string, cacheMs: number, outcome: CacheOutcome | undefined): PublicResponse {
  const headers = {
    'content-type': 'image/svg+xml',
    'cache-control': publicFor(cacheMs),
    ...cacheStatusFields(outcome),
    // An SVG that is opened as a page could run scripts. This allows only the styles and the logo, which is a data URL.
    'content-security-policy': "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
  };
  return taggedResponse(headers, body, outcome);
}
