import type { Channel } from './channel.ts';

interface MetricRow {
  /** The name in a list of choices. */
  readonly title: string;
  /** The field of a record that has the count. */
  readonly field: keyof Channel & `${string}Count`;
}

/** Every count that a badge can show, one row each. */
const METRIC_TABLE = {
  subscribers: { title: 'Subscribers', field: 'subscriberCount' },
  views: { title: 'Views', field: 'viewCount' },
  videos: { title: 'Videos', field: 'videoCount' },
} as const satisfies Record<string, MetricRow>;

export type BadgeMetric = keyof typeof METRIC_TABLE;

export const BADGE_METRICS = Object.keys(METRIC_TABLE) as readonly BadgeMetric[];
export const DEFAULT_METRIC: BadgeMetric = 'subscribers';

export function metricRow(metric: BadgeMetric): MetricRow {
  return METRIC_TABLE[metric];
}

/** The designs of shields.io, by its names. */
export const BADGE_STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const;
export const DEFAULT_STYLE = 'flat';
