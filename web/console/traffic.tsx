import type { ConsoleState } from '../../src/private/state.ts';
import { Card, Facts } from '../parts/card.tsx';
import { BarRow, DurationLines, Legend, StackedBars } from '../parts/charts.tsx';
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

type Totals = ConsoleState['totals'];

/** Charts of what happened since the page was opened, beside the figures since the service was started. */
export function Traffic({ polls }: { polls: readonly ConsoleState[] }) {
  const last = polls.at(-1);
  if (last === undefined) return null;
  const { totals, encoder } = last;
  const steps = polls.slice(1).map((state, at) => growthBetween(polls[at], state));
  return (
    <>
      <Requests steps={steps} totals={totals} />
      <Latency steps={steps} totals={totals} />
      <Lookups totals={totals} />
      <Encoders polls={polls} totals={totals} encoder={encoder} />
    </>
  );
}

/** The counters of a service that was restarted begin at 0. */
function growthBetween(earlier: ConsoleState | undefined, { startedAtMs, totals }: ConsoleState): Totals {
  return growthSince(totals, startedAtMs === earlier?.startedAtMs ? earlier.totals : {});
}

interface TrafficProps {
  /** What happened between two polls, oldest first. */
  readonly steps: readonly Totals[];
  readonly totals: Totals;
}

function Requests({ steps, totals }: TrafficProps) {
  return (
    <Card id="requests" heading="Requests since the start" class="double">
      <Legend
        entries={OUTCOMES.map((outcome) => ({ ...outcome, value: formatCount(totals.requests[outcome.name]) }))}
      />
      <StackedBars
        series={OUTCOMES.map(({ name }) => ({ name, values: steps.map(({ requests }) => requests[name]) }))}
        label="Since you opened this page: requests in 5 s"
      />
    </Card>
  );
}

function Latency({ steps, totals }: TrafficProps) {
  const figures = QUANTILES.map(({ name, share }) => ({
    name,
    label: name,
    value: formatDurationOf(quantile(totals.latency, share)),
  }));
  return (
    <Card id="latency" heading="Response time since the start">
      <Legend entries={figures} />
      <DurationLines
        series={QUANTILES.map(({ name, share }) => ({
          name,
          values: steps.map(({ latency }) => quantile(latency, share)),
        }))}
        label="Since you opened this page: response time"
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

type EncodersProps = Pick<ConsoleState, 'encoder' | 'totals'> & { polls: readonly ConsoleState[] };

function Encoders({ polls, totals, encoder: { queued, running, processes, refused, restarts } }: EncodersProps) {
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
        series={[{ name: 'queue', values: polls.map(({ encoder }) => encoder.queued) }]}
        label="Since you opened this page: images that wait"
      />
    </Card>
  );
}
