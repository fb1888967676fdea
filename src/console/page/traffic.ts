import { element, find } from '../../site/dom.ts';
import { formatCount, formatDuration } from '../../site/numbers.ts';
import type { ConsoleState } from '../state.ts';
import { logLines, stackedBars, withAxes } from './charts.ts';
import { barRow, legend } from './parts.ts';

const OUTCOMES = [
  { name: 'responded', label: 'Successful' },
  { name: 'unchanged', label: 'Not modified (304)' },
  { name: 'mistaken', label: 'Client error (4xx)' },
  { name: 'refused', label: 'Rate limited (429)' },
  { name: 'failed', label: 'Failed (5xx)' },
] as const;
const QUANTILES = ['p50', 'p95', 'p99'] as const;
const LOOKUPS = [
  { name: 'records', label: 'Records' },
  { name: 'images', label: 'Images' },
  { name: 'searches', label: 'Searches' },
] as const;
/** The service samples its counters every five seconds and keeps 15 minutes. */
const STEP_SECONDS = 5;
const KEPT_STEPS = 180;
const STEPS_PER_COLUMN = 2;
/** Labels of the time axis. */
const TIMES = ['15 min ago', '10', '5', 'now'];
const LATENCY_SECONDS = { lowest: 0.0001, highest: 10 };

export function showTraffic(state: ConsoleState) {
  showRequests(state);
  showLatency(state);
  showLookups(state);
}

function showRequests({ steps, recent }: ConsoleState) {
  const series = OUTCOMES.map(({ name }) => {
    const counts = steps.map(({ requests }) => requests[name]);
    return { name, values: inColumns(padded(counts, 0)) };
  });
  const total = OUTCOMES.reduce((sum, { name }) => sum + recent.requests[name], 0);
  const { chart, highest } = stackedBars(`Requests by outcome, ${total} in total`, series);
  const unit = `requests in ${STEP_SECONDS * STEPS_PER_COLUMN} s`;
  find('#requests-chart', HTMLElement).replaceChildren(
    withAxes(chart, { labels: countLabels(highest), unit, times: TIMES }),
  );
  find('#request-rate', HTMLElement).replaceChildren(rate(total / recent.seconds), element('small', {}, ' a second'));
  find('#requests-legend', HTMLElement).replaceChildren(
    ...legend(OUTCOMES.map(({ name, label }) => ({ name, label, value: formatCount(String(recent.requests[name])) }))),
  );
}

function showLatency({ steps, recent }: ConsoleState) {
  const series = QUANTILES.map((name) => {
    const values = steps.map(({ latencySeconds }) => latencySeconds[name]);
    return { name, values: padded(values, null) };
  });
  const figures = QUANTILES.map((name) => `${name} ${seconds(recent.latencySeconds[name])}`);
  find('#latency-chart', HTMLElement).replaceChildren(
    withAxes(logLines(`Response time: ${figures.join(', ')}`, series, LATENCY_SECONDS), {
      labels: ['10 s', '1 s', '100 ms', '10 ms', '1 ms', '0.1 ms'],
      unit: 'logarithmic',
      times: TIMES,
    }),
  );
  find('#latency-legend', HTMLElement).replaceChildren(
    ...legend(QUANTILES.map((name) => ({ name, label: name, value: seconds(recent.latencySeconds[name]) }))),
  );
}

function showLookups({ recent }: ConsoleState) {
  const rows = LOOKUPS.map(({ name, label }) => {
    const { hit = 0, stale = 0, miss = 0, refreshed = 0 } = recent.lookups[name];
    const total = hit + stale + miss + refreshed;
    if (total === 0) return barRow(label, 'none yet', []);
    const share = Math.round(((hit + stale) / total) * 100);
    return barRow(label, `${share} % of ${formatCount(String(total))}`, [
      { name: 'hit', share: hit / total },
      { name: 'stale', share: stale / total },
      { name: 'loaded', share: (miss + refreshed) / total },
    ]);
  });
  const keys = [
    { name: 'hit', label: 'Fresh', value: '' },
    { name: 'stale', label: 'Stale, sources failed', value: '' },
    { name: 'loaded', label: 'Loaded or encoded', value: '' },
  ];
  find('#lookups', HTMLElement).replaceChildren(
    element('div', { class: 'bars' }, ...rows),
    element('ul', { class: 'legend' }, ...legend(keys)),
  );
}

export function showEncoder({ steps, recent, encoder }: ConsoleState) {
  const { queued, running, processes, refused, restarts } = encoder;
  const waiting = steps.map((step) => step.queued);
  const { chart, highest } = stackedBars(`Images waiting for an encoder, now ${queued}`, [
    { name: 'queue', values: padded(waiting, 0) },
  ]);
  const labels = [formatCount(String(highest)), '0'];
  find('#encoder-chart', HTMLElement).replaceChildren(withAxes(chart, { labels, unit: 'waiting', times: TIMES }));
  find('#encoder-now', HTMLElement).textContent = `${running} running, ${queued} waiting, ${processes} started`;
  find('#encoder', HTMLElement).replaceChildren(
    ...figure('Encoded', formatCount(String(recent.encoded))),
    ...figure('Time, p50', seconds(recent.encodingSeconds.p50)),
    ...figure('Time, p95', seconds(recent.encodingSeconds.p95)),
    ...figure('Wait, p95', seconds(recent.waitingSeconds.p95)),
    ...figure('Rejected', formatCount(String(refused))),
    ...figure('Restarts', formatCount(String(restarts))),
  );
}

/** Fills the time before the start, so that the chart has its whole length. */
function padded<T>(values: readonly T[], filler: T): T[] {
  return [...new Array(Math.max(0, KEPT_STEPS - values.length)).fill(filler), ...values];
}

function inColumns(values: readonly number[]) {
  const sums: number[] = [];
  for (const [at, value] of values.entries()) {
    const column = Math.floor(at / STEPS_PER_COLUMN);
    sums[column] = (sums[column] ?? 0) + value;
  }
  return sums;
}

/** Top, middle and bottom of an axis. The middle has none where it is no whole number. */
function countLabels(highest: number) {
  const middle = highest % 2 === 0 ? formatCount(String(highest / 2)) : '';
  return [formatCount(String(highest)), middle, '0'];
}

function figure(label: string, value: string) {
  return [element('div', {}, element('dt', {}, label), element('dd', {}, value))];
}

function seconds(value: number | null) {
  return value === null ? '–' : formatDuration(value * 1000);
}

function rate(perSecond: number) {
  return perSecond < 10 ? perSecond.toFixed(1) : formatCount(String(Math.round(perSecond)));
}
