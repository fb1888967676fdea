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
  const rows = sources.map(({ name, state, problems }) => {
    const calls = Object.entries(totals.sources[name] ?? {});
    const failed = calls.filter(([outcome, count]) => !GOOD_OUTCOMES.has(outcome) && count > 0);
    // "youtube feeds" is a part of "youtube".
    const parts = problems
      .filter((problem) => problem.name !== name)
      .map((problem) => `${problem.name.slice(name.length + 1)}: breaker open`);
    const words = [state, ...parts].join(', ');
    return {
      cells: [
        name,
        <Status key={name} isWell={problems.length === 0}>
          {words}
        </Status>,
        formatCount(sum(calls)),
        formatCount(sum(failed)),
      ],
      // Below the row, because a column would leave no room for the others. The conditions explain breakers.
      detail: failed.map(([outcome, count]) => `${formatCount(count)} ${outcome}`).join(', '),
    };
  });
  return (
    <Card id="sources" heading="Upstream, since the start">
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

function sum(calls: readonly (readonly [string, number])[]): number {
  return calls.reduce((total, [, count]) => total + count, 0);
}
