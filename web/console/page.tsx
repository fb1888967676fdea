import type { ReadonlySignal } from '@preact/signals';
import type { ConsoleState } from '../../src/private/state.ts';
import { Card } from '../parts/card.tsx';
import { Table } from '../parts/table.tsx';
import { adviceFor } from './advice.ts';
import { formatUptime, sentence } from './figures.ts';
import { Purge } from './purge.tsx';
import { Sources } from './sources.tsx';
import { Traffic } from './traffic.tsx';

interface PageProps {
  /** What the service has told since the page was opened, oldest first. */
  readonly polls: ReadonlySignal<readonly ConsoleState[]>;
  readonly isUnreachable: ReadonlySignal<boolean>;
}

export function Console({ polls, isUnreachable }: PageProps) {
  const state = polls.value.at(-1);
  return (
    <>
      <header class="row">
        <h1 class="brand">
          <img src="playground/pennant.svg" alt="" width={28} height={28} />
          Pennant <span>Console</span>
        </h1>
        <p id="status" role="status">
          {isUnreachable.value ? (
            <span class="status trouble">No response. Is the service running?</span>
          ) : (
            <Health conditions={state?.conditions} />
          )}
        </p>
        {state && (
          <p class="muted">
            Version {state.version}, up {formatUptime(state.nowMs - state.startedAtMs)}
          </p>
        )}
        <nav class="row" aria-label="Other pages">
          <a href="playground/">Playground</a> <a href="metrics">Metrics</a> <a href="guide/operating.html">Guide</a>
        </nav>
      </header>
      {state && (
        <main>
          <Conditions conditions={state.conditions} />
          <Traffic polls={polls.value} />
          <Sources state={state} />
          <Purge />
          <Card id="settings" heading="Settings" class="wide">
            <Settings settings={state.settings} />
          </Card>
        </main>
      )}
    </>
  );
}

function Health({ conditions }: { conditions: ConsoleState['conditions'] | undefined }) {
  if (conditions === undefined) return <>Loading…</>;
  if (conditions.length === 0) return <span class="status">Healthy</span>;
  const count = conditions.length === 1 ? '1 condition' : `${conditions.length} conditions`;
  return <span class="status trouble">Degraded: {count}</span>;
}

/** What hinders the service, and what the operator does about it. Conditions with the same advice stand together. */
function Conditions({ conditions }: Pick<ConsoleState, 'conditions'>) {
  if (conditions.length === 0) return null;
  return (
    <section id="conditions" class="notice wide stack tight" aria-label="Conditions">
      {[...Map.groupBy(conditions, adviceFor)].map(([{ todo, guide }, alike]) => (
        <div key={todo}>
          {alike.map(({ name, detail }) => (
            <p key={name}>
              <strong>{name}</strong>: {sentence(detail)}
            </p>
          ))}
          <p>
            <strong>What to do</strong>: {todo} <a href={`guide/${guide}`}>Guide</a>
          </p>
        </div>
      ))}
    </section>
  );
}

function Settings({ settings }: Pick<ConsoleState, 'settings'>) {
  const rows = settings.map(({ name, value, origin }) => ({
    cells: [<code key={name}>{name}</code>, value || '–', origin],
    class: origin === 'default' ? '' : 'own',
  }));
  return <Table columns={[{ label: 'Variable' }, { label: 'Value' }, { label: 'From' }]} rows={rows} />;
}
