import type { ClientVersionState, SourceQuota, SourceStatus } from '../domain/source-status.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Condition } from './conditions.ts';

/** What is not in order with a source, beside its breaker. The service works on in all of these. */
export function sourceConditions({ clientVersion }: SourceStatus = {}): Condition[] {
  if (clientVersion === undefined || clientVersion.problem === null) return [];
  return [{ name: 'YouTube client version', detail: clientVersion.problem, isBlocking: false }];
}

/** @param read of every source that has a status; which parts a status has does not change */
export function addSourceGauges(metrics: Metrics, read: () => readonly SourceStatus[]): void {
  const clientVersion = () => read().find((status) => status.clientVersion !== undefined)?.clientVersion;
  if (clientVersion() !== undefined) addClientVersionGauges(metrics, clientVersion);
  const quotas = () => read().flatMap((status) => status.quotas ?? []);
  if (quotas().length > 0) addQuotaGauges(metrics, quotas);
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
