import type { CanaryState, SourceStatus } from '../domain/source-status.ts';
import type { Metrics, ScrapedMetric } from '../lib/metrics/metrics.ts';

export interface SourceReading {
  readonly name: string;
  /** `null`: no breaker. */
  readonly breaker: 'closed' | 'open' | 'half-open' | null;
  readonly status?: SourceStatus | undefined;
}

/** Problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, breaker, status }: SourceReading): (readonly [name: string, detail: string])[] {
  const { clientVersion, canary } = status ?? {};
  const isPaused = breaker !== null && breaker !== 'closed';
  const problems = [
    [name === 'image hosts' ? name : `source ${name}`, isPaused ? `circuit breaker ${breaker}` : null],
    ['YouTube client version', clientVersion?.problem ?? null],
    ['YouTube canary', canary === undefined ? null : describeCanary(canary)],
  ] as const;
  return problems.flatMap(([problemName, detail]) => (detail === null ? [] : [[problemName, detail] as const]));
}

function describeCanary({ name, gone, failure }: CanaryState): string | null {
  if (failure !== null) return `the check of ${name} failed: ${failure}`;
  return gone.length === 0 ? null : `${name} no longer has these fields: ${gone.join(', ')}`;
}

/** @param readStatuses returns the status of every source that has one. The members of a status do not change. */
export function addSourceGauges({ addGauge }: Metrics, readStatuses: () => readonly SourceStatus[]): void {
  /** Adds the gauge if a source has the member. */
  function add<Member extends keyof SourceStatus>(member: Member, { read, ...gauge }: StatusGauge<Member>): void {
    const find = () => readStatuses().find((status) => status[member] !== undefined)?.[member];
    if (find() === undefined) return;
    addGauge({ ...gauge, read: () => read(find() as Required<SourceStatus>[Member]) });
  }

  add('clientVersion', {
    name: 'pennant_youtube_client_version_info',
    help: '1 for the client version in calls to YouTube.',
    label: 'version',
    read: ({ version }) => ({ [version]: 1 }),
  });
  add('clientVersion', {
    name: 'pennant_youtube_client_version_refused',
    help: '1 while YouTube refuses the version and no other one is known to work.',
    read: ({ isRefused }) => Number(isRefused),
  });
  add('canary', {
    name: 'pennant_youtube_canary_field_gone',
    help: '1 for a field that the canary has lost, 0 for a field that it has.',
    label: 'field',
    read: ({ known, gone }) => Object.fromEntries(known.map((field) => [field, Number(gone.includes(field))])),
  });
  add('canary', {
    name: 'pennant_youtube_canary_failed',
    help: '1 if the last load of the canary, or the search for it, failed.',
    read: ({ failure }) => Number(failure !== null),
  });
  add('canary', {
    name: 'pennant_youtube_canary_checked_timestamp_seconds',
    help: 'Time of the last load of the canary, Unix time; 0: not yet.',
    read: ({ checkedAtMs }) => (checkedAtMs ?? 0) / 1000,
  });
  add('quotas', {
    name: 'pennant_data_api_quota_spent',
    help: 'Calls to the YouTube Data API today (Pacific time), by allowance.',
    label: 'allowance',
    read: (quotas) => Object.fromEntries(quotas.map(({ name, spent }) => [name, spent])),
  });
  add('quotas', {
    name: 'pennant_data_api_quota_per_day',
    help: 'Calls to the YouTube Data API that are allowed per day, by allowance.',
    label: 'allowance',
    read: (quotas) => Object.fromEntries(quotas.map(({ name, perDay }) => [name, perDay])),
  });
}

/** A gauge that is read from a member of a status. */
interface StatusGauge<Member extends keyof SourceStatus> extends Omit<ScrapedMetric, 'read'> {
  readonly read: (state: Required<SourceStatus>[Member]) => ReturnType<ScrapedMetric['read']>;
}
