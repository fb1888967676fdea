import { GOOD_OUTCOMES, IMAGE_SOURCE } from '../../src/domain/source-status.ts';
import type { ConsoleState, SourceReading } from '../../src/private/state.ts';
import { Card } from '../parts/card.tsx';
import { formatCount } from '../parts/numbers.ts';
import { Table } from '../parts/table.tsx';

const COLUMNS = [
  { label: 'Source' },
  { label: 'State' },
  { label: 'Lookups', isNumber: true },
  { label: 'Failed', isNumber: true },
];

/** The sources and their breakers, with the lookups since the service was started. */
export function Sources({ state: { sources, totals } }: { state: ConsoleState }) {
  const counted = sources.map((source) => {
    const lookups = Object.entries(totals.sources[source.name] ?? {});
    return { source, lookups, failed: lookups.filter(([outcome, count]) => !GOOD_OUTCOMES.has(outcome) && count > 0) };
  });
  const rows = counted.map(({ source, lookups, failed }) => ({
    cells: [source.name, <State key={source.name} of={source} />, formatCount(sum(lookups)), formatCount(sum(failed))],
  }));
  return (
    <Card id="sources" heading="Lookups at the sources since the start">
      <Table columns={COLUMNS} rows={rows} />
      {counted.map(({ source: { name }, failed }) => (
        <p key={name} class="muted">
          {failed.length > 0 &&
            `Failures of ${name}: ${failed.map(([outcome, count]) => `${formatCount(count)} ${outcome}`).join(', ')}.`}
        </p>
      ))}
    </Card>
  );
}

function State({ of: { name, conditions } }: { of: SourceReading }) {
  const stopped = conditions.map((condition) => callsOf(name, condition.name));
  if (stopped.length === 0) return <span class="status">ready</span>;
  return <span class="status trouble">breaker open: {stopped.join(', ')}</span>;
}

/** The calls that a breaker stops: those of "youtube feeds" are the feeds of "youtube". */
function callsOf(source: string, breaker: string): string {
  if (source === IMAGE_SOURCE) return 'images';
  return breaker === source ? 'records' : breaker.slice(source.length + 1);
}

function sum(counts: readonly (readonly [string, number])[]): number {
  return counts.reduce((total, [, count]) => total + count, 0);
}
