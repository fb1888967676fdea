import { element, find } from '../../site/dom.ts';
import { formatCount } from '../../site/numbers.ts';
import type { ConsoleState } from '../state.ts';
import { logLines, stackedBars, withAxes } from './charts.ts';
import { countLabels, formatDurationOf, formatRate, inColumns, lookupFigures } from './figures.ts';
import { barRow, legend } from './parts.ts';

const OUTCOMES = [
  { name: 'responded', label: 'Successful' },
  { name: 'unchanged', label: 'Not modified (304)' },
  { name: 'clientError', label: 'Client error (4xx)' },
  { name: 'refused', label: 'Rate limited (429)' },
  { name: 'failed', label: 'Failed (5xx)' },
] as const;
const QUANTILES = ['p50', 'p95', 'p99'] as const;
const LOOKUPS = [
  { name: 'records', label: 'Records' },
  { name: 'images', label: 'Images' },
  { name: 'searches', label: 'Searches' },
] as const;
const LOOKUP_OUTCOMES = [
  { name: 'hit', label: 'Hit' },
  { name: 'stale', label: 'Stale hit' },
  { name: 'miss', label: 'Miss' },
] as const;
const STEPS_PER_COLUMN = 2;
/** Labels of the time axis. */
const TIMES = ['15 min ago', '10', '5', 'now'];
const LATENCY_SECONDS = { lowest: 0.0001, highest: 10 };

export function showTraffic(state: ConsoleState) {
  showRequests(state);
  showLatency(state);
  showLookups(state);
}

function showRequests({ steps, stepSeconds, recent }: ConsoleState) {
  const series = OUTCOMES.map(({ name }) => {
    const counts = steps.map(({ requests }) => requests[name]);
    return { name, values: inColumns(counts, STEPS_PER_COLUMN) };
  });
  const total = OUTCOMES.reduce((sum, { name }) => sum + recent.requests[name], 0);
  const { chart, highest } = stackedBars(`Requests by outcome, ${total} in total`, series);
  const unit = `requests in ${stepSeconds * STEPS_PER_COLUMN} s`;
  find('#requests-chart', HTMLElement).replaceChildren(
    withAxes(chart, { labels: countLabels(highest), unit, times: TIMES }),
  );
  const { amount, unit: rateUnit } = formatRate(total / recent.seconds);
  find('#request-rate', HTMLElement).replaceChildren(amount, element('small', {}, ` ${rateUnit}`));
  find('#requests-legend', HTMLElement).replaceChildren(
    ...legend(OUTCOMES.map(({ name, label }) => ({ name, label, value: formatCount(recent.requests[name]) }))),
  );
}

function showLatency({ steps, recent }: ConsoleState) {
  const series = QUANTILES.map((name) => ({ name, values: steps.map(({ latencySeconds }) => latencySeconds[name]) }));
  const figures = QUANTILES.map((name) => `${name} ${formatDurationOf(recent.latencySeconds[name])}`);
  find('#latency-chart', HTMLElement).replaceChildren(
    withAxes(logLines(`Response time: ${figures.join(', ')}`, series, LATENCY_SECONDS), {
      labels: ['10 s', '1 s', '100 ms', '10 ms', '1 ms', '0.1 ms'],
      unit: 'logarithmic',
      times: TIMES,
    }),
  );
  find('#latency-legend', HTMLElement).replaceChildren(
    ...legend(QUANTILES.map((name) => ({ name, label: name, value: formatDurationOf(recent.latencySeconds[name]) }))),
  );
}

function showLookups({ recent }: ConsoleState) {
  const rows = LOOKUPS.map(({ name, label }) => {
    const figures = lookupFigures(recent.lookups[name]);
    if (figures === undefined) return barRow(label, 'none yet', []);
    const { total, hitPercent, shares } = figures;
    return barRow(
      label,
      `${hitPercent} % of ${formatCount(total)}`,
      LOOKUP_OUTCOMES.map((outcome) => ({ name: outcome.name, share: shares[outcome.name] })),
    );
  });
  const keys = LOOKUP_OUTCOMES.map((outcome) => ({ ...outcome, value: '' }));
  find('#lookups', HTMLElement).replaceChildren(
    element('div', { class: 'bars' }, ...rows),
    element('ul', { class: 'legend' }, ...legend(keys)),
  );
}

export function showEncoder({ steps, recent, encoder }: ConsoleState) {
  const { queued, running, processes, refused, restarts } = encoder;
  const { chart, highest } = stackedBars(`Images waiting for an encoder, now ${queued}`, [
    { name: 'queue', values: steps.map((step) => step.queued) },
  ]);
  const labels = [formatCount(highest), '0'];
  find('#encoder-chart', HTMLElement).replaceChildren(withAxes(chart, { labels, unit: 'waiting', times: TIMES }));
  find('#encoder-now', HTMLElement).textContent = `${running} running, ${queued} waiting, ${processes} started`;
  find('#encoder', HTMLElement).replaceChildren(
    figure('Encoded', formatCount(recent.encoded)),
    figure('Time, p50', formatDurationOf(recent.encodingSeconds.p50)),
    figure('Time, p95', formatDurationOf(recent.encodingSeconds.p95)),
    figure('Wait, p95', formatDurationOf(recent.waitingSeconds.p95)),
    figure('Rejected', formatCount(refused)),
    figure('Restarts', formatCount(restarts)),
  );
}

function figure(label: string, value: string) {
  return element('div', {}, element('dt', {}, label), element('dd', {}, value));
}
