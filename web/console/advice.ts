import type { FailureCause } from '../../src/domain/errors.ts';
import type { Condition } from '../../src/private/state.ts';

/** What the operator does about a problem, and where the guide describes it. */
export interface Advice {
  readonly todo: string;
  /** A page of the guide with the heading's anchor. */
  readonly guide: string;
}

const CONDITIONS = 'operating.html#conditions';
const YOUTUBE = 'operating.html#when-youtube-fails';

/** Of the source and the image hosts, whatever call it is that fails. */
const BY_CAUSE: Readonly<Record<FailureCause, Advice>> = {
  unreachable: {
    todo:
      'This machine cannot reach YouTube, or the relay or proxy before it. Check DNS and outgoing HTTPS, then what ' +
      'YOUTUBE_ORIGIN and HTTPS_PROXY name. A restart closes every breaker at once.',
    guide: YOUTUBE,
  },
  refused: {
    todo:
      'Wait: stored values are served, and the breaker asks again by itself. Do not restart: a restart closes every ' +
      'breaker, and this address asks again too early. If YouTube still refuses it, use a relay or the Data API.',
    guide: YOUTUBE,
  },
  quota: {
    todo:
      'Wait for the reset, raise the quota at Google, or add the source youtube. A restart closes every breaker, but ' +
      'the quota stays spent.',
    guide: YOUTUBE,
  },
  failing: {
    todo:
      'Wait: stored values are served, and the breaker asks again by itself. If it lasts, run the doctor: YouTube may ' +
      'have changed its responses. A restart closes every breaker, but mends nothing at YouTube.',
    guide: YOUTUBE,
  },
};

/** The feed server fails for some hours on most days, and only the dates of new records suffer. */
const FAILING_FEEDS: Advice = {
  todo: 'Wait: YouTube’s feeds fail for some hours on most days. Until then new records have the day only.',
  guide: CONDITIONS,
};

const BY_NAME: Readonly<Record<string, Advice>> = {
  redis: {
    todo: 'Check the Redis server and the network to it. Until then, each instance applies the rate limit alone. Nothing has to be restarted.',
    guide: 'operating.html#when-redis-fails',
  },
  cache: {
    todo: 'Make room on the disk of DATA_DIR, and check the owner of its files. Until then, records and images are in memory only.',
    guide: CONDITIONS,
  },
  catalog: {
    todo: 'Mend the line that the condition names, or put the folder back. Until then the last good state is served.',
    guide: CONDITIONS,
  },
  encoder: { todo: 'Restart the service.', guide: CONDITIONS },
  removal: {
    todo: 'Repair what the condition names. The service tries again every minute.',
    guide: 'operating.html#take-downs',
  },
  stopping: { todo: 'Wait for the new process.', guide: 'operating.html#upgrades' },
};

const OTHERWISE: Advice = { todo: 'See the log.', guide: CONDITIONS };

export function adviceFor({ name, cause }: Pick<Condition, 'name' | 'cause'>): Advice {
  if (cause === undefined) return BY_NAME[name] ?? OTHERWISE;
  return cause === 'failing' && name.endsWith(' feeds') ? FAILING_FEEDS : BY_CAUSE[cause];
}
