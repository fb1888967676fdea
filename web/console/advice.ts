import type { FailureCause } from '../../src/domain/errors.ts';
import type { Condition } from '../../src/domain/source-status.ts';

/** What the operator does about a condition, and where the guide describes it. */
export interface Advice {
  readonly todo: string;
  /** A page of the guide with the heading's anchor. */
  readonly guide: string;
}

const CONDITIONS = 'operating.html#conditions';
const YOUTUBE = 'operating.html#when-youtube-fails';

function advise(guide: string, ...sentences: readonly string[]): Advice {
  return { todo: sentences.join(' '), guide };
}

/** Advice about a source and the image hosts, whatever call it is that fails. */
const BY_CAUSE: Readonly<Record<FailureCause, Advice>> = {
  unreachable: advise(
    YOUTUBE,
    'This machine cannot reach YouTube, or the relay or proxy before it.',
    'Check DNS and outgoing HTTPS, then what YOUTUBE_ORIGIN and HTTPS_PROXY name. A restart closes every breaker at once.',
  ),
  refused: advise(
    YOUTUBE,
    'Wait: stored values are served, and the breaker asks again by itself. If YouTube still refuses this address, use a relay or the Data API.',
    'Do not restart: a restart closes every breaker, and this address asks again too early.',
  ),
  quota: advise(
    YOUTUBE,
    'Wait for the reset, raise the quota at Google, or add the source youtube.',
    'A restart closes every breaker, but the quota stays spent.',
  ),
  failing: advise(
    YOUTUBE,
    'Wait: stored values are served, and the breaker asks again by itself. If it lasts, run the doctor: YouTube may have changed its responses.',
    'A restart closes every breaker, but mends nothing at YouTube.',
  ),
};

/** The feed server fails for some hours on most days, and only the dates of new records suffer. */
const FAILING_FEEDS = advise(
  CONDITIONS,
  'Wait: YouTube’s feeds fail for some hours on most days. Until then, new records have the day only.',
);

const BY_NAME: Readonly<Record<string, Advice>> = {
  redis: advise(
    'operating.html#when-redis-fails',
    'Check the Redis server and the network to it. Until then, each instance applies the rate limit alone.',
    'Nothing has to be restarted.',
  ),
  cache: advise(
    CONDITIONS,
    'Make room on the disk of DATA_DIR, and check the owner of its files.',
    'Until then, records and images are in memory only.',
  ),
  catalog: advise(
    CONDITIONS,
    'Mend the line that the condition names, or put the folder back. Until then, the last good state is served.',
  ),
  encoder: advise(CONDITIONS, 'Restart the service.'),
  removal: advise(
    'operating.html#take-downs',
    'Repair what the condition names. The service tries again every minute.',
  ),
  stopping: advise('operating.html#upgrades', 'Wait for the new process.'),
};

const OTHERWISE = advise(CONDITIONS, 'See the log.');

export function adviceFor({ name, cause }: Pick<Condition, 'name' | 'cause'>): Advice {
  if (cause === undefined) return BY_NAME[name] ?? OTHERWISE;
  return cause === 'failing' && name.endsWith(' feeds') ? FAILING_FEEDS : BY_CAUSE[cause];
}
