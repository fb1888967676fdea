import type { ParsedUrlQuery } from 'node:querystring';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { Channel } from '../../domain/channel.ts';
import { AppError, type ErrorCode, errorCodeOf } from '../../domain/errors.ts';
import { type ChannelRef, isChannelId } from '../../domain/identifier.ts';
import type { ChannelService } from '../../services/channels.ts';
import {
  BADGE_IMAGE_QUERY,
  BADGE_QUERY,
  type BadgeAppearance,
  type BadgeMetric,
  RETIRED_BADGE_QUERY,
} from '../request/badge-parameters.ts';
import type { Endpoint, PathParameters, PublicResponse } from '../request/context.ts';
import { parseQuery, readQuery, readValidQuery } from '../request/parameters.ts';
import { type Badge, drawBadge } from '../response/badge-image.ts';
import { cacheStatusFields, keptForMs, publicFor } from '../response/cache-fields.ts';
import { entityTag } from '../response/conditions.ts';
import { problemResponse } from '../response/problems.ts';
import { jsonResponse } from '../response/serializers.ts';
import { parseBareIdentifier } from './channels.ts';

type Refs = readonly ChannelRef[];

/** A count of a channel: as JSON for an endpoint badge of shields.io, and as the badge's image. */
export function badgeRoutes({ channels }: { readonly channels: ChannelService }): Endpoint<Refs>[] {
  async function load(refs: Refs, metric: BadgeMetric) {
    const { channel, outcome } = await channels.getChannel(refs, SOFT_TIMEOUT_MS);
    return { badge: badgeOf(channel, metric), outcome, cacheMs: Math.max(MIN_CACHE_MS, keptForMs(outcome)) };
  }

  /** An endpoint that responds to errors with a badge and 200, because image proxies show nothing for another status. */
  function imageEndpoint({ url, parsePath, read }: ImageEndpointOptions): Endpoint<Refs> {
    return {
      url,
      responseMs: BADGE_IMAGE_MS,
      parsePath,
      async respond(refs, { target }) {
        const { metric, appearance, invalid } = read(parseQuery(target.query));
        if (invalid !== undefined) throw invalid.error;
        const { badge, outcome, cacheMs } = await load(refs, metric);
        const response = imageResponse(await drawBadge(badge, appearance), cacheMs, outcome);
        return { ...response, freshMs: outcome.ttlMs };
      },
      async respondToError(error, context) {
        const { metric, appearance, invalid } = read(parseQuery(context.target.query));
        const message = errorMessageOf(errorCodeOf(error), invalid?.name);
        const grey = { ...appearance, color: undefined, labelColor: undefined };
        const svg = await drawBadge({ label: metric, message, color: GREY }, grey);
        const { status: countedStatus, failure } = problemResponse(error, context);
        const outcome = error instanceof AppError ? error.outcome : undefined;
        return { ...imageResponse(svg, ERROR_CACHE_MS, outcome), freshMs: 0, countedStatus, failure };
      },
    };
  }

  return [
    {
      url: '/api/badge/:identifier',
      parsePath: refsOf,
      async respond(refs, { target }) {
        const { metric } = readQuery(BADGE_QUERY, parseQuery(target.query));
        const { badge, outcome, cacheMs } = await load(refs, metric);
        const cacheSeconds = Math.round(cacheMs / 1000);
        const body = JSON.stringify({ schemaVersion: 1, ...badge, isError: false, cacheSeconds });
        return jsonResponse(outcome, { body });
      },
    },
    // After an @, only a final .svg is not part of the handle.
    imageEndpoint({ url: '/api/badge/:identifier.svg', parsePath: refsOf, read: readImageQuery }),
    ...RETIRED_METRICS.map((metric) =>
      imageEndpoint({
        url: `/youtube/channel/${metric}/:identifier`,
        parsePath: ({ identifier }) => refsOf({ identifier: identifier?.replace(/\.svg$/, '') }),
        read: (query) => readRetiredQuery(query, metric),
      }),
    ),
  ];
}

interface ImageEndpointOptions {
  readonly url: string;
  readonly parsePath: (parameters: PathParameters) => Refs;
  readonly read: (query: ParsedUrlQuery) => ImageQuery;
}

interface ImageQuery {
  readonly metric: BadgeMetric;
  readonly appearance: BadgeAppearance;
  /** The first parameter that is not valid. */
  readonly invalid: { readonly name: string; readonly error: AppError } | undefined;
}

function readImageQuery(query: ParsedUrlQuery): ImageQuery {
  const { values, invalid } = readValidQuery(BADGE_IMAGE_QUERY, query);
  const { metric, ...appearance } = values;
  return { metric, appearance, invalid };
}

/** The metrics of the badges for channels that shields.io retired in August 2026 (badges/shields#12113). */
const RETIRED_METRICS = ['subscribers', 'views'] as const;

/** As at shields.io, only the style `social` has the logo by default. */
function readRetiredQuery(query: ParsedUrlQuery, metric: BadgeMetric): ImageQuery {
  const { values, invalid } = readValidQuery(RETIRED_BADGE_QUERY, query);
  const { logo = values.style === 'social' ? 'youtube' : 'none' } = values;
  return { metric, appearance: { ...values, logo }, invalid };
}

function refsOf({ identifier = '' }: PathParameters): Refs {
  const [id = '', extension] = identifier.split('.', 2);
  if (extension === undefined || !isChannelId(id)) return parseBareIdentifier(identifier);
  throw new AppError('invalid_parameter', 'A badge is an SVG image (/api/badge/{id}.svg) or JSON (no extension).');
}

const FIELDS = { subscribers: 'subscriberCount', views: 'viewCount', videos: 'videoCount' } as const;

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
  const count = channel[FIELDS[metric]];
  if (count === null) return { label: metric, message: 'hidden', color: GREY };
  // shields.io writes the SI prefix for a thousand.
  return { label: metric, message: SHORT_COUNT.format(BigInt(count)).replace('K', 'k'), color: 'red' };
}

/** @param invalidName the name of the invalid parameter. Default: the channel in the path */
function errorMessageOf(code: ErrorCode, invalidName = 'channel'): string {
  if (code === 'invalid_parameter') return `invalid ${invalidName}`;
  if (code === 'channel_not_found') return 'not found';
  return code === 'channel_blocked' ? 'not available' : 'unavailable';
}

function imageResponse(body: string, cacheMs: number, outcome: CacheOutcome | undefined): PublicResponse {
  const headers = {
    'content-type': 'image/svg+xml',
    'cache-control': publicFor(cacheMs),
    ...(outcome !== undefined && cacheStatusFields(outcome)),
    // An SVG that is opened as a page could run scripts. This allows only the styles and the logo, which is a data URL.
    'content-security-policy': "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
    etag: entityTag(body),
  };
  return { status: 200, headers, body, cache: outcome?.kind };
}
