import type { ConsoleState } from '../../src/private/state.ts';
import { Card, Facts } from '../parts/card.tsx';
import { BarRow, Legend, LogLines, StackedBars } from '../parts/charts.tsx';
import { formatCount } from '../parts/numbers.ts';
import { formatDurationOf, growthSince, lookupFigures, quantile } from './figures.ts';

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

/** Charts of what happened since the page was opened, beside the figures since the service was started. */
export function Traffic({ polls, moments }: TrafficProps) {
  const last = polls.at(-1);
  if (last === undefined) return null;
  const { totals, encoder } = last;
  const steps = polls.slice(1).map((state, at) => growthBetween(polls[at], state));
  const axes = { moments, times: TIMES };
  return (
    <>
      <Requests {...{ steps, totals, axes }} />
      <Latency {...{ steps, totals, axes }} />
      <Lookups totals={totals} />
      <Encoders {...{ polls, totals, encoder, axes }} />
    </>
  );
}

/** The counters of a service that was restarted begin at 0. */
function growthBetween(earlier: ConsoleState | undefined, { startedAtMs, totals }: ConsoleState): Totals {
  return growthSince(totals, startedAtMs === earlier?.startedAtMs ? earlier.totals : {});
}

interface Axes {
  readonly axes: { readonly moments: number; readonly times: readonly string[] };
}

function Requests({ steps, totals, axes }: Axes & { steps: readonly Totals[]; totals: Totals }) {
  return (
    <Card id="requests" heading="Requests since the start" class="double">
      <Legend
        entries={OUTCOMES.map((outcome) => ({ ...outcome, value: formatCount(totals.requests[outcome.name]) }))}
      />
      <StackedBars
        label="Requests by outcome since you opened this page"
        series={OUTCOMES.map(({ name }) => ({ name, values: steps.map(({ requests }) => requests[name]) }))}
        unit="Since you opened this page: requests in 5 s"
        {...axes}
      />
    </Card>
  );
}

function Latency({ steps, totals, axes }: Axes & { steps: readonly Totals[]; totals: Totals }) {
  const figures = QUANTILES.map(({ name, share }) => ({
    name,
    label: name,
    value: formatDurationOf(quantile(totals.latency, share)),
  }));
  return (
    <Card id="latency" heading="Response time since the start">
      <Legend entries={figures} />
      <LogLines
        label="Response time since you opened this page"
        series={QUANTILES.map(({ name, share }) => ({
          name,
          values: steps.map(({ latency }) => quantile(latency, share)),
        }))}
        unit="Since you opened this page: response time"
        labels={['10 s', '1 s', '100 ms', '10 ms', '1 ms', '0.1 ms']}
        lowest={0.0001}
        highest={10}
        {...axes}
      />
    </Card>
  );
}

function Lookups({ totals }: { totals: Totals }) {
  return (
    <Card id="lookups" heading="Cache hits since the start">
      {LOOKUPS.map(({ name, label }) => {
        const figures = lookupFigures(totals.lookups[name]);
        if (figures === undefined) return <BarRow key={name} label={label} words="nothing loaded yet" parts={[]} />;
        const words = `${figures.hitPercent} % of ${formatCount(figures.total)}`;
        const parts = LOOKUP_OUTCOMES.map((outcome) => ({ ...outcome, share: figures.shares[outcome.name] }));
        return <BarRow key={name} label={label} words={words} parts={parts} />;
      })}
      <Legend entries={LOOKUP_OUTCOMES} />
    </Card>
  );
}

type EncodersProps = Axes & Pick<ConsoleState, 'encoder' | 'totals'> & { polls: readonly ConsoleState[] };

function Encoders({ polls, totals, encoder: { queued, running, processes, refused, restarts }, axes }: EncodersProps) {
  const facts = {
    Encoded: formatCount(totals.encoding['+Inf'] ?? 0),
    'Time, p50': formatDurationOf(quantile(totals.encoding, 0.5)),
    'Time, p95': formatDurationOf(quantile(totals.encoding, 0.95)),
    'Wait, p95': formatDurationOf(quantile(totals.waiting, 0.95)),
    Rejected: formatCount(refused),
    Restarts: formatCount(restarts),
  };
  return (
    <Card id="encoders" heading="Encoders since the start">
      <Facts of={facts} />
      <p class="muted">
        Now {running} running, {queued} waiting, {processes} started.
      </p>
      <StackedBars
        label="Images that waited for an encoder since you opened this page"
        series={[{ name: 'queue', values: polls.map(({ encoder }) => encoder.queued) }]}
        unit="Since you opened this page: images that wait"
        {...axes}
      />
    </Card>
  );
}
