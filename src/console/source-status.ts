import type { CanaryState, ClientVersionState, SourceQuota, SourceStatus } from '../domain/source-status.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { SourceReading } from './state.ts';

type Problem = readonly [name: string, detail: string];

/** Problems of a source or of the image hosts. The service continues despite them. */
export function sourceProblems({ name, breaker, status }: SourceReading): Problem[] {
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
  if (failure !== null) return `${name} could not be loaded: ${failure}`;
  return gone.length === 0 ? null : `${name} no longer has these fields: ${gone.join(', ')}`;
}

/** @param read returns the status of every source that has one. The members of a status do not change. */
export function addSourceGauges(metrics: Metrics, read: () => readonly SourceStatus[]): void {
  const clientVersion = () => read().find((status) => status.clientVersion !== undefined)?.clientVersion;
  if (clientVersion() !== undefined) addClientVersionGauges(metrics, clientVersion);
  const canary = () => read().find((status) => status.canary !== undefined)?.canary;
  if (canary() !== undefined) addCanaryGauges(metrics, canary);
  const quotas = () => read().flatMap((status) => status.quotas ?? []);
  if (quotas().length > 0) addQuotaGauges(metrics, quotas);
}

function addCanaryGauges({ addGauge }: Metrics, read: () => CanaryState | undefined): void {
  addGauge({
    name: 'pennant_youtube_canary_field_gone',
    help: '1 for a field that the canary had and has no more, 0 for one that it has.',
    label: 'field',
    read() {
      const { known = [], gone = [] } = read() ?? {};
      return Object.fromEntries(known.map((field) => [field, gone.includes(field) ? 1 : 0]));
    },
  });
  addGauge({
    name: 'pennant_youtube_canary_failed',
    help: '1 while the canary could not be loaded the last time.',
    read: () => (typeof read()?.failure === 'string' ? 1 : 0),
  });
  addGauge({
    name: 'pennant_youtube_canary_checked_timestamp_seconds',
    help: 'When the canary was loaded last, Unix time; 0: not yet.',
    read: () => (read()?.checkedAtMs ?? 0) / 1000,
  });
}

function addQuotaGauges({ addGauge }: Metrics, read: () => readonly SourceQuota[]): void {
  addGauge({
    name: 'pennant_data_api_quota_spent',
    help: 'Calls to the YouTube Data API today (Pacific time), by allowance.',
    label: 'allowance',
    read: () => Object.fromEntries(read().map(({ name, spent }) => [name, spent])),
  });
  addGauge({
    name: 'pennant_data_api_quota_per_day',
    help: 'Calls to the YouTube Data API that may be made a day, by allowance.',
    label: 'allowance',
    read: () => Object.fromEntries(read().map(({ name, perDay }) => [name, perDay])),
  });
}

function addClientVersionGauges({ addGauge }: Metrics, read: () => ClientVersionState | undefined): void {
  addGauge({
    name: 'pennant_youtube_client_version_info',
    help: '1 for the client version that calls to YouTube name.',
    label: 'version',
    read: () => ({ [read()?.version ?? '']: 1 }),
  });
  addGauge({
    name: 'pennant_youtube_client_version_timestamp_seconds',
    help: 'The day that the version names, Unix time; 0 where it names none.',
    read: () => dayOf(read()?.version ?? '') / 1000,
  });
  addGauge({
    name: 'pennant_youtube_client_version_refused',
    help: '1 while YouTube refuses the version and no other one is known to work.',
    read: () => (read()?.isRefused ? 1 : 0),
  });
}

/** 2.YYYYMMDD.NN.NN */
function dayOf(version: string): number {
  const [, year, month, day] = /^\d\.(\d{4})(\d{2})(\d{2})\./.exec(version) ?? [];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return Number.isNaN(time) ? 0 : time;
}
