import type { Channel } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { type ChannelRef, isChannelId } from '../../domain/identifier.ts';
import type { ChannelService } from '../../services/channels.ts';
import type { Endpoint, PathParameters } from '../request/context.ts';
import { BADGE_QUERY, parseQuery, readQuery } from '../request/target.ts';
import { keptForMs } from '../response/response.ts';
import { jsonResponse } from '../response/serializers.ts';
import { parseBannerPath } from './banners.ts';

/** A count of a channel for an endpoint badge of shields.io. */
export function badgeRoute({ channels }: { readonly channels: ChannelService }): Endpoint<readonly ChannelRef[]> {
  return {
    url: '/api/badge/:identifier',
    parsePath: refsOf,
    async respond(refs, { target }) {
      const { metric = 'subscribers' } = readQuery(BADGE_QUERY, parseQuery(target.query));
      const { channel, outcome } = await channels.getChannel(refs);
      return jsonResponse(outcome, { body: JSON.stringify(badgeOf(channel, metric, keptForMs(outcome))) });
    },
  };
}

function refsOf({ identifier = '' }: PathParameters): readonly ChannelRef[] {
  const [id = '', extension] = identifier.split('.', 2);
  if (extension === undefined || !isChannelId(id)) return parseBannerPath({ identifier }).refs;
  throw new AppError('invalid_parameter', 'A badge is JSON: leave the extension out.');
}

const FIELDS = { subscribers: 'subscriberCount', views: 'viewCount', videos: 'videoCount' } as const;

/** Three digits fit on a badge: 1,284,000 is 1.28M. Never more than the real count. */
const SHORT_COUNT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 3,
  roundingMode: 'floor',
});

/** shields.io raises a shorter time to this one. */
const MIN_CACHE_SECONDS = 300;

/** The schema of shields.io/badges/endpoint-badge (seen 2026-11). */
function badgeOf(channel: Channel, metric: keyof typeof FIELDS, freshMs: number): object {
  const count = channel[FIELDS[metric]];
  return {
    schemaVersion: 1,
    label: metric,
    message: count === null ? 'hidden' : SHORT_COUNT.format(BigInt(count)),
    color: count === null ? 'lightgrey' : 'red',
    isError: false,
    cacheSeconds: Math.max(MIN_CACHE_SECONDS, Math.round(freshMs / 1000)),
  };
}
