import { element, find } from '../../site/dom.ts';
import { formatBytes, formatCount } from '../../site/numbers.ts';
import type { ConsoleState } from '../state.ts';
import { byFill, fillOf, formatTime, sentence } from './figures.ts';
import { barRow, dot, mutedText, table } from './parts.ts';

const MAX_FIELDS = 8;
const VERSION_ORIGINS = { 'built-in': 'built in', learned: 'learned from YouTube' };
/** Outcomes of a call that do not count as failures. */
const GOOD_OUTCOMES = new Set(['found', 'channel_not_found', 'image_not_found', 'inconclusive']);

export function showSources({ sources, recent }: ConsoleState) {
  const rows = sources.map(({ name, state, problems }) => {
    const calls = Object.entries(recent.sources[name] ?? {});
    const failed = calls.filter(([outcome]) => !GOOD_OUTCOMES.has(outcome));
    const total = sum(calls);
    // "youtube feeds" is a part of "youtube".
    const parts = problems
      .filter((problem) => problem.name !== name)
      .map((problem) => problem.name.slice(name.length + 1));
    const words = state === 'unreachable' ? state : [state, ...parts.map((part) => `${part} paused`)].join(', ');
    const counts = failed
      .filter(([, count]) => count > 0)
      .map(([outcome, count]) => `${formatCount(count)} ${outcome}`);
    return {
      cells: [
        name,
        element('span', {}, dot(problems.length === 0), words),
        formatCount(total),
        formatCount(sum(failed)),
      ],
      // Errors are below the row, because a column of them would leave no room for the others. The conditions explain pauses.
      ...(counts.length > 0 && { detail: counts.join(', ') }),
    };
  });
  const facts = sources.flatMap(({ status }) => [...clientVersionFacts(status), ...quotaFacts(status)]);
  const columns = [
    { label: 'Source' },
    { label: 'State' },
    { label: 'Calls', isNumber: true },
    { label: 'Failed', isNumber: true },
  ];
  find('#sources', HTMLElement).replaceChildren(table(columns, rows), ...facts);
}

function quotaFacts(status: ConsoleState['sources'][number]['status']) {
  if (status?.quotas === undefined) return [];
  const used = status.quotas.map(
    ({ name, spent, perDay }) => `${formatCount(spent)} of ${formatCount(perDay)} ${name}`,
  );
  return [mutedText(`YouTube Data API today: ${used.join(', ')}.`)];
}

function clientVersionFacts(status: ConsoleState['sources'][number]['status']) {
  if (status?.clientVersion === undefined) return [];
  const { version, origin } = status.clientVersion;
  return [mutedText(`YouTube client version: ${version} (${VERSION_ORIGINS[origin]}).`)];
}

export function showFields({ fields }: ConsoleState) {
  const lacking = fields
    .filter(({ missing }) => missing > 0)
    .map((field) => ({ ...field, share: field.missing / (field.missing + field.found) }))
    .sort((a, b) => b.share - a.share)
    .slice(0, MAX_FIELDS);
  const rows = lacking.map(({ source, field, share, missing, found }) =>
    barRow(`${field} (${source})`, `${missing} of ${missing + found}`, [{ name: 'fill', share }]),
  );
  const none = fields.length === 0 ? 'No upstream response has been read yet.' : 'Every field was found.';
  find('#fields', HTMLElement).replaceChildren(
    rows.length === 0 ? mutedText(none) : element('div', { class: 'bars' }, ...rows),
  );
}

export function showStores({ stores }: ConsoleState) {
  const { full, others } = byFill(stores);
  const none = mutedText('None is more than 70 % full.');
  find('#full-stores', HTMLElement).replaceChildren(full.length === 0 ? none : bars(full));
  find('#other-stores', HTMLElement).replaceChildren(bars(others));
}

function bars(stores: ConsoleState['stores']) {
  const rows = stores.map((store) => {
    const amounts = [
      amount(store.entries, store.maxEntries, formatCount),
      amount(store.bytes, store.maxBytes, formatBytes),
    ];
    const words = amounts.filter((text) => text !== '').join(' · ');
    return barRow(store.name, words, [{ name: 'fill', share: fillOf(store) }]);
  });
  return element('div', { class: 'bars' }, ...rows);
}

function amount(value: number | undefined, limit: number | undefined, format: (value: number) => string) {
  if (value === undefined) return '';
  return limit === undefined ? format(value) : `${format(value)} of ${format(limit)}`;
}

export function showRefused({ refusedNetworks, limiter }: ConsoleState) {
  const rows = refusedNetworks.map(({ network, refused, lastAtMs }) => ({
    cells: [element('code', {}, network), formatTime(lastAtMs), formatCount(refused)],
  }));
  const known = `Tracked clients: ${formatCount(limiter.clients)}. Evicted before their window ended: ${formatCount(limiter.evicted)}.`;
  find('#refused', HTMLElement).replaceChildren(
    rows.length === 0
      ? mutedText('None in the last minutes.')
      : table(
          [{ label: 'Network' }, { label: 'Latest (UTC)' }, { label: 'Rejected, last minutes', isNumber: true }],
          rows,
        ),
    mutedText(known),
  );
}

export function showFailures({ failures }: ConsoleState) {
  const rows = failures.map(({ status, code, reason, count, firstAtMs, lastAtMs, requestId, path }) => ({
    cells: [formatTime(lastAtMs), `${status} ${code}`, formatCount(count)],
    detail: `${sentence(reason)} First at ${formatTime(firstAtMs)}. Latest request: ${requestId}, ${path}`,
  }));
  const columns = [{ label: 'Latest (UTC)' }, { label: 'Failure' }, { label: 'Requests', isNumber: true }];
  find('#failures', HTMLElement).replaceChildren(
    rows.length === 0 ? mutedText('None since the start.') : table(columns, rows),
  );
}

export function showSettings({ settings }: ConsoleState) {
  const rows = settings.map(({ name, value, isDefault, origin }) => ({
    cells: [element('code', {}, name), value === '' ? '–' : value, origin],
    className: isDefault ? '' : 'own',
  }));
  find('#settings', HTMLElement).replaceChildren(
    table([{ label: 'Variable' }, { label: 'Value' }, { label: 'From' }], rows),
  );
}

function sum(calls: readonly (readonly [string, number])[]) {
  return calls.reduce((total, [, count]) => total + count, 0);
}
