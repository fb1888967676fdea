import { IMAGE_SOURCE } from '../../src/domain/source-status.ts';
import type { ConsoleState } from '../../src/private/state.ts';
import { Card } from '../parts/card.tsx';
import { formatCount } from '../parts/numbers.ts';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';

const VERSION_ORIGINS = { 'built-in': 'built in', learned: 'learned from YouTube' };
/** Outcomes of a call that do not count as failures. */
const GOOD_OUTCOMES = new Set(['found', 'channel_not_found', 'image_not_found', 'inconclusive']);
const COLUMNS = [
  { label: 'Source' },
  { label: 'State' },
  { label: 'Calls', isNumber: true },
  { label: 'Failed', isNumber: true },
];

/** The sources and their breakers, with their calls since the service was started. */
export function Sources({ state: { sources, totals } }: { state: ConsoleState }) {
  const rows = sources.map(({ name, problems }) => {
    const calls = Object.entries(totals.sources[name] ?? {});
    const failed = calls.filter(([outcome, count]) => !GOOD_OUTCOMES.has(outcome) && count > 0);
    const isWell = problems.length === 0;
    return {
      cells: [
        name,
        <Status key={name} isWell={isWell}>
          {isWell ? 'ready' : `breaker open: ${problems.map((problem) => partOf(name, problem.name)).join(', ')}`}
        </Status>,
        formatCount(sum(calls)),
        formatCount(sum(failed)),
      ],
      // Below the row, because a column would leave no room for the others. The conditions explain breakers.
      detail: failed.map(([outcome, count]) => `${formatCount(count)} ${outcome}`).join(', '),
    };
  });
  return (
    <Card id="sources" heading="Calls to YouTube since the start">
      <Table columns={COLUMNS} rows={rows} />
      {sources.map(
        ({ name, clientVersion }) =>
          clientVersion && (
            <p key={name} class="muted">
              YouTube client version: {clientVersion.version} ({VERSION_ORIGINS[clientVersion.origin]}).
            </p>
          ),
      )}
    </Card>
  );
}

/** The calls that a breaker stops: those of "youtube feeds" are the feeds of "youtube". */
function partOf(source: string, breaker: string): string {
  if (source === IMAGE_SOURCE) return 'images';
  return breaker === source ? 'records' : breaker.slice(source.length + 1);
}

function sum(calls: readonly (readonly [string, number])[]): number {
  return calls.reduce((total, [, count]) => total + count, 0);
}
