import { element, find } from '../../site/dom.ts';
import type { ConsoleState } from '../state.ts';
import { adviceFor } from './advice.ts';
import { formatUptime, sentence } from './figures.ts';
import { dot } from './parts.ts';
import { showFailures, showFields, showRefused, showSettings, showSources, showStores } from './parts-of-service.ts';
import { showEncoder, showTraffic } from './traffic.ts';

const POLL_MS = 2_000;
const status = find('#status', HTMLElement);

async function poll() {
  try {
    const response = await fetch('state.json');
    if (!response.ok) throw new TypeError(`The console responded with status ${response.status}.`);
    show(await response.json());
  } catch (error) {
    // `fetch` throws a TypeError. Every other error is a bug of this page.
    if (!(error instanceof TypeError)) throw error;
    showStatus('No response. Is the service running?', false);
  } finally {
    document.body.dataset.polled = '';
    setTimeout(poll, POLL_MS);
  }
}

function show(state: ConsoleState) {
  const { conditions, version, startedAtMs, nowMs } = state;
  const isReady = !conditions.some(({ isBlocking }) => isBlocking);
  const problems = conditions.length === 1 ? '1 problem' : `${conditions.length} problems`;
  const text = conditions.length === 0 ? 'Healthy' : isReady ? `Degraded: ${problems}` : 'Not ready';
  showStatus(text, conditions.length === 0);
  showConditions(conditions);
  find('#about', HTMLElement).textContent = `Version ${version}, up ${formatUptime(nowMs - startedAtMs)}`;
  showTraffic(state);
  showEncoder(state);
  showSources(state);
  showFields(state);
  showStores(state);
  showRefused(state);
  showFailures(state);
  showSettings(state);
}

function showStatus(text: string, isWell: boolean) {
  // Screen readers announce each change.
  if (status.textContent !== text) status.replaceChildren(dot(isWell), text);
}

function showConditions(conditions: ConsoleState['conditions']) {
  const list = find('#conditions', HTMLElement);
  list.hidden = conditions.length === 0;
  list.replaceChildren(
    ...conditions.map(({ name, detail }) => {
      const { todo, guide } = adviceFor(name);
      const link = element('a', { href: `guide/${guide}` }, 'Guide');
      return element('p', {}, element('strong', {}, name), `: ${sentence(detail)} ${todo} `, link);
    }),
  );
}

find('#purge', HTMLFormElement).addEventListener('submit', async (event) => {
  event.preventDefault();
  const input = find('#purge-channel', HTMLInputElement);
  const result = find('#purge-result', HTMLElement);
  result.textContent = '';
  const response = await fetch('purge', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-pennant-console': 'purge' },
    body: JSON.stringify({ channel: input.value }),
  });
  const reply = await response.json();
  const done = reply.channelId === null ? 'Removed what was stored for that name.' : `Purged ${reply.channelId}.`;
  result.textContent = response.ok ? done : reply.detail;
});

void poll();
