/** What the operator does about a problem, and where the guide describes it. */
export interface Advice {
  readonly todo: string;
  /** A page of the guide with the heading's anchor. */
  readonly guide: string;
}

const REDIS = 'operating.html#when-redis-fails';
const CONDITIONS = 'operating.html#conditions';
const YOUTUBE = 'operating.html#when-youtube-blocks-or-changes';

/** By the beginning of the condition's name, the longest first. */
const ADVICE: readonly (readonly [name: string, advice: Advice])[] = [
  ['redis', { todo: 'Check the Redis server and the network to it. Nothing has to be restarted.', guide: REDIS }],
  ['cache', { todo: 'Make room on the disk of DATA_DIR, and check the owner of its files.', guide: CONDITIONS }],
  [
    'catalog',
    {
      todo: 'Mend the line that the condition names, or put the folder back. Until then the last good state is served.',
      guide: CONDITIONS,
    },
  ],
  ['encoder', { todo: 'Restart the service.', guide: CONDITIONS }],
  [
    'removal',
    {
      todo: 'Repair what the condition names. The service tries again every minute.',
      guide: 'operating.html#take-downs',
    },
  ],
  ['stopping', { todo: 'Wait for the new process.', guide: 'operating.html#upgrades' }],
  [
    'source youtube-data-api',
    { todo: 'Wait until the breaker closes, or raise the quota of your project.', guide: YOUTUBE },
  ],
  ['source youtube feeds', { todo: 'Wait: feeds fail for some hours on most days.', guide: CONDITIONS }],
  ['source ', { todo: 'Wait until the breaker closes. If it opens again, run the doctor.', guide: YOUTUBE }],
  ['image hosts', { todo: 'Wait: stored images are served.', guide: YOUTUBE }],
];

const OTHERWISE: Advice = { todo: 'See the log.', guide: CONDITIONS };

export function adviceFor(condition: string): Advice {
  return ADVICE.find(([name]) => condition.startsWith(name))?.[1] ?? OTHERWISE;
}
