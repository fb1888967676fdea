import type { ConsoleState } from '../../src/private/state.ts';
import { Card, Facts } from '../parts/card.tsx';
import { BarRow, Legend, LogLines, StackedBars } from '../parts/charts.tsx';
import { formatCount } from '../parts/numbers.ts';
import { formatDurationOf, formatRate, growthSince, lookupFigures, quantile } from './figures.ts';

const OUTCOMES = [
  { name: 'responded', label: 'Successful' },
  { name: 'unchanged', label: 'Not modified (304)' },
  { name: 'clientError', label: 'Client error (4xx)' },
  { name: 'refused', label: 'Rate limited (429)' },
  { name: 'failed', label: 'Failed (5xx)' },
] as const;
const QUANTILES = [
  { name: 'p50', share: 0.5 },
  { name: 'p95', share: 0.95 },
  { name: 'p99', share: 0.99 },
];
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
const TIMES = ['15 min ago', '10', '5', 'now'];

interface TrafficProps {
  readonly polls: readonly ConsoleState[];
  readonly moments: number;
}

type Totals = ConsoleState['totals'];

/** What happened since the page was opened. */
export function Traffic({ polls, moments }: TrafficProps) {
  const [first, last] = [polls[0], polls.at(-1)];
  if (first === undefined || last === undefined) return null;
  const steps = polls.slice(1).map(({ totals }, at) => growthSince(totals, polls[at]?.totals));
  const all = growthSince(last.totals, first.totals);
  const seconds = (last.nowMs - first.nowMs) / 1_000;
  const axes = { moments, times: TIMES };
  return (
    <>
      <Requests {...{ steps, all, seconds, axes }} />
      <Latency {...{ steps, all, axes }} />
      <Lookups all={all} />
      <Encoders {...{ polls, all, axes }} encoder={last.encoder} />
    </>
  );
}

interface Axes {
  readonly axes: { readonly moments: number; readonly times: readonly string[] };
}

function Requests({ steps, all, seconds, axes }: Axes & { steps: readonly Totals[]; all: Totals; seconds: number }) {
  const total = OUTCOMES.reduce((sum, { name }) => sum + all.requests[name], 0);
  const { amount, unit } = formatRate(total / Math.max(1, seconds));
  return (
    <Card
      id="requests"
      heading="Requests"
      class="double"
      aside={
        <p class="muted">
          <b>{amount}</b> {unit}
        </p>
      }
    >
      <StackedBars
        label={`Requests by outcome, ${total} in total`}
        series={OUTCOMES.map(({ name }) => ({ name, values: steps.map(({ requests }) => requests[name]) }))}
        unit="requests in 5 s"
        {...axes}
      />
      <Legend entries={OUTCOMES.map((outcome) => ({ ...outcome, value: formatCount(all.requests[outcome.name]) }))} />
    </Card>
  );
}

function Latency({ steps, all, axes }: Axes & { steps: readonly Totals[]; all: Totals }) {
  const figures = QUANTILES.map(({ name, share }) => ({
    name,
    label: name,
    value: formatDurationOf(quantile(all.latency, share)),
  }));
  return (
    <Card id="latency" heading="Response time">
      <LogLines
        label={`Response time: ${figures.map(({ name, value }) => `${name} ${value}`).join(', ')}`}
        series={QUANTILES.map(({ name, share }) => ({
          name,
          values: steps.map(({ latency }) => quantile(latency, share)),
        }))}
        unit="logarithmic"
        labels={['10 s', '1 s', '100 ms', '10 ms', '1 ms', '0.1 ms']}
        lowest={0.0001}
        highest={10}
        {...axes}
      />
      <Legend entries={figures} />
    </Card>
  );
}

function Lookups({ all }: { all: Totals }) {
  return (
    <Card id="lookups" heading="Cache hits">
      {LOOKUPS.map(({ name, label }) => {
        const figures = lookupFigures(all.lookups[name]);
        if (figures === undefined) return <BarRow key={name} label={label} words="none yet" parts={[]} />;
        const words = `${figures.hitPercent} % of ${formatCount(figures.total)}`;
        const parts = LOOKUP_OUTCOMES.map((outcome) => ({ ...outcome, share: figures.shares[outcome.name] }));
        return <BarRow key={name} label={label} words={words} parts={parts} />;
      })}
      <Legend entries={LOOKUP_OUTCOMES} />
    </Card>
  );
}

type EncodersProps = Axes & Pick<ConsoleState, 'encoder'> & { polls: readonly ConsoleState[]; all: Totals };

function Encoders({ polls, all, encoder: { queued, running, processes, refused, restarts }, axes }: EncodersProps) {
  const facts = {
    Encoded: formatCount(all.encoding['+Inf'] ?? 0),
    'Time, p50': formatDurationOf(quantile(all.encoding, 0.5)),
    'Time, p95': formatDurationOf(quantile(all.encoding, 0.95)),
    'Wait, p95': formatDurationOf(quantile(all.waiting, 0.95)),
    Rejected: formatCount(refused),
    Restarts: formatCount(restarts),
  };
  return (
    <Card
      id="encoders"
      heading="Encoders"
      aside={
        <p class="muted">
          {running} running, {queued} waiting, {processes} started
        </p>
      }
    >
      <StackedBars
        label={`Images waiting for an encoder, now ${queued}`}
        series={[{ name: 'queue', values: polls.map(({ encoder }) => encoder.queued) }]}
        unit="waiting"
        {...axes}
      />
      <Facts of={facts} />
    </Card>
  );
}
