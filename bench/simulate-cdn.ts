/**
 * The load that remains for the service behind a CDN, and the number of its channels, by formulas instead of simulated
 * requests: `npx node bench/simulate-cdn.ts`. The formulas ignore eviction.
 */
import { CACHE_POLICY } from '../src/services/cache-policy.ts';
import { formatColumns } from './report.ts';
import { distinctChannels } from './simulation/growth.ts';
import { PICTURES } from './simulation/traffic.ts';
import { forEachShare } from './simulation/zipf.ts';

const CHANNELS = 10_000_000;
const PICTURE_SHARE = 0.7;
const EXPONENTS = [0.8, 1, 1.2];
/** `max-age` of pictures and the maximum of records: how long a CDN caches them. */
const PICTURE_SECONDS = 86_400;
const RECORD_SECONDS = CACHE_POLICY.records.freshMs / 1000;
const ORIGINAL_SECONDS = CACHE_POLICY.originals.freshMs / 1000;

/** The rate of requests that pass a cache with this lifetime: of independent requests, one after each expiry. */
function passed(rate: number, keptSeconds: number): number {
  return rate / (1 + rate * keptSeconds);
}

interface BehindCdn {
  readonly pictures: number;
  readonly records: number;
  readonly recordLoads: number;
  readonly downloads: number;
}

/** Requests and loads per second behind a CDN cache that gets this many requests per second. */
function behindCdn(exponent: number, requestsPerSecond: number): BehindCdn {
  let [pictures, records, recordLoads, downloads] = [0, 0, 0, 0];
  forEachShare({ count: CHANNELS, exponent }, (share) => {
    const pictureRate = share * requestsPerSecond * PICTURE_SHARE;
    const ofPictures = PICTURES.map((picture) => passed(pictureRate * picture.share, PICTURE_SECONDS));
    const pictureSum = ofPictures.reduce((sum, rate) => sum + rate, 0);
    const record = passed(share * requestsPerSecond - pictureRate, RECORD_SECONDS);
    pictures += pictureSum;
    records += record;
    // Every request that arrives here needs a fresh record.
    recordLoads += passed(pictureSum + record, RECORD_SECONDS);
    const avatars = PICTURES.reduce((sum, { variant, share: part }) => sum + (variant === 'avatar' ? part : 0), 0);
    downloads +=
      passed(pictureRate * avatars, ORIGINAL_SECONDS) + passed(pictureRate * (1 - avatars), ORIGINAL_SECONDS);
  });
  return { pictures, records, recordLoads, downloads };
}

const rows = EXPONENTS.flatMap((exponent) =>
  [100, 1_000, 10_000, 100_000].map((rate) => {
    const { pictures, records, recordLoads, downloads } = behindCdn(exponent, rate);
    return [
      `${exponent}`,
      `${rate}`,
      (100 * (1 - (pictures + records) / rate)).toFixed(1),
      ...[pictures, records, recordLoads, downloads].map((value) => value.toFixed(0)),
    ];
  }),
);
const headings = ['exponent', 'requests/s', 'CDN hits %', 'pictures/s', 'records/s', 'record loads/s', 'downloads/s'];
console.log(`Behind a CDN:\n\n${formatColumns([headings, ...rows])}\n`);

const weekSeconds = CACHE_POLICY.records.staleMs / 1000;
const growth = [10, 100, 1_000, 10_000].map((rate) => {
  const known = EXPONENTS.map((exponent) => distinctChannels({ count: CHANNELS, exponent }, rate * weekSeconds));
  return [`${rate}`, ...known.map((count) => `${(count / 1e6).toFixed(2)} million`)];
});
const growthHeadings = ['requests/s', ...EXPONENTS.map((exponent) => `exponent ${exponent}`)];
console.log(`Different channels in the week that records are kept:\n\n${formatColumns([growthHeadings, ...growth])}`);
