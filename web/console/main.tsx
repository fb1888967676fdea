import { signal } from '@preact/signals';
import { hydrate } from 'preact';
import type { ConsoleState } from '../../src/private/state.ts';
import { Console } from './page.tsx';

/** The time between two polls: a column of the charts. */
const POLL_SECONDS = 5;
/** Enough for a quarter of an hour. */
const KEPT_POLLS = 181;

/** Oldest first. */
const polls = signal<readonly ConsoleState[]>([]);
const isUnreachable = signal(false);

async function poll(): Promise<void> {
  try {
    const response = await fetch('state.json');
    if (!response.ok) throw new TypeError(`The service responded with status ${response.status}.`);
    const state: ConsoleState = await response.json();
    polls.value = [...polls.value, state].slice(-KEPT_POLLS);
    isUnreachable.value = false;
  } catch (error) {
    // `fetch` throws a TypeError. Every other error is a bug of this page.
    if (!(error instanceof TypeError)) throw error;
    isUnreachable.value = true;
  } finally {
    setTimeout(poll, POLL_SECONDS * 1_000);
  }
}

hydrate(<Console polls={polls} isUnreachable={isUnreachable} moments={KEPT_POLLS - 1} />, document.body);
void poll();
