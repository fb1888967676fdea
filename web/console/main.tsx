import { signal } from '@preact/signals';
import { render } from 'preact';
import type { ConsoleState } from '../../src/private/state.ts';
import { MOMENTS, STEP_MS } from '../parts/charts.tsx';
import { Console } from './page.tsx';

const polls = signal<readonly ConsoleState[]>([]);
const isUnreachable = signal(false);

async function poll(): Promise<void> {
  try {
    const response = await fetch('state.json');
    if (!response.ok) throw new TypeError(`The service responded with status ${response.status}.`);
    const state: ConsoleState = await response.json();
    polls.value = [...polls.value, state].slice(-MOMENTS - 1);
    isUnreachable.value = false;
  } catch (error) {
    // `fetch` throws a TypeError. Every other error is a bug of this page.
    if (!(error instanceof TypeError)) throw error;
    isUnreachable.value = true;
  } finally {
    setTimeout(poll, STEP_MS);
  }
}

render(<Console polls={polls} isUnreachable={isUnreachable} />, document.body);
void poll();
