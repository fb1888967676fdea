import { numberedChannelId } from './numbered-upstream.ts';
import type { StreamedRequest } from './request-stream.ts';

/** Requests of one kind, all different. */
export interface RequestKind {
  readonly name: string;
  /** Numbers for the short and the long form. */
  readonly counts: readonly [short: number, long: number];
  readonly request: (number: number) => StreamedRequest;
  /** The only allowed statuses. */
  readonly statuses: readonly number[];
  /** The gauges that it fills, and to which share of their bounds. */
  readonly fills: Readonly<Record<string, number>>;
}

/** The next entry may be too large for the remaining space. */
const FULL = 0.9;

const LONG = 200_000;
const LONG_ENCODED = 5_000;

function absentId(number: number): string {
  return numberedChannelId('a', number);
}

/** Requests that the sample catalog can serve. */
export const CATALOG_KINDS: readonly RequestKind[] = [
  {
    name: 'clients that are refused',
    counts: [9_000, LONG],
    // The second request of each client is refused. Each has its own network.
    request: (number) => ({
      url: '/problems',
      headers: { 'x-forwarded-for': `11.${(number >> 9) & 255}.${(number >> 1) & 255}.1` },
    }),
    statuses: [200, 429],
    fills: {},
  },
];

/** Requests that need an upstream. Never five in a row fail, or the breaker would open. */
export const UPSTREAM_KINDS: readonly RequestKind[] = [
  {
    name: 'records',
    counts: [800, LONG],
    request: (number) => ({ url: `/channel/${numberedChannelId('r', number)}` }),
    statuses: [200],
    fills: { records_in_memory: FULL },
  },
  {
    name: 'absent channels',
    counts: [4_000, LONG],
    request: (number) => ({ url: `/api/channel/${absentId(number)}` }),
    statuses: [404],
    fills: { records_in_memory: FULL },
  },
  {
    name: 'absent handles',
    counts: [4_000, LONG],
    request: (number) => ({ url: `/@absent${number}` }),
    statuses: [404],
    fills: { names_in_memory: FULL },
  },
  {
    name: 'searches',
    counts: [2_000, LONG],
    request: (number) => ({ url: `/api/search?q=word${number}` }),
    statuses: [200],
    fills: { searches_in_memory: FULL },
  },
  {
    name: 'hidden and absent channels',
    counts: [8_000, LONG],
    request: (number) => ({ url: `/channel/${numberedChannelId(number % 3 === 0 ? 'x' : 'a', number)}` }),
    statuses: [404, 503],
    fills: { failed_records: FULL },
  },
  {
    name: 'images, a quarter of them refused',
    counts: [500, LONG_ENCODED],
    request: (number) => ({ url: `/${numberedChannelId(number % 4 === 3 ? 'p' : 'r', number)}/tv.webp` }),
    statuses: [200, 502, 503],
    fills: { originals_in_memory: FULL, images_in_memory: FULL, images_on_disk: FULL },
  },
  {
    name: 'tiny images',
    counts: [500, LONG_ENCODED],
    request: (number) => {
      const size = `width=${40 + (number % 50)}&quality=${Math.floor(number / 50) + 1}`;
      return { url: `/${numberedChannelId('r', 4 * (number % 16))}/avatar.jpg?${size}` };
    },
    statuses: [200],
    fills: { images_in_memory: FULL, images_on_disk: FULL },
  },
];
