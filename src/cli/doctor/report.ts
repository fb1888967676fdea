import { styleText } from 'node:util';
import { sniffFormat } from '../../domain/formats.ts';
import { printable, printableJson } from '../../domain/printable.ts';
import { type FieldFinding, isDrift } from '../../sources/source.ts';
import { formatTable } from '../command.ts';
import type { Diagnosis } from './diagnose.ts';
import type { RecordedCall } from './upstreams.ts';

type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

const STATE_STYLES = {
  fine: 'green',
  absent: 'dim',
  older: 'yellow',
  rounded: 'yellow',
  unreadable: 'red',
  missing: 'red',
} as const;

const VALUE_CHARACTERS = 48;

/** The diagnosis as text: tables of calls and fields, and a verdict. */
export function renderText(diagnosis: Diagnosis, { isColoured }: { readonly isColoured: boolean }): string {
  const paint: Paint = (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text);
  const heads = (...names: string[]) => names.map((name) => paint('bold', name.toUpperCase()));
  const calls = diagnosis.calls.map((call) => callRow(call, paint));
  const fields = diagnosis.fields.map((field) => fieldRow(field, paint));
  const sections = [
    `${printable(diagnosis.asked)} from ${diagnosis.source} (${diagnosis.origin})`,
    calls.length === 0 ? '' : formatTable([heads('call', 'status', 'bytes', 'form', 'ms', 'address'), ...calls]),
    fields.length === 0 ? '' : formatTable([heads('field', 'state', 'value', 'from'), ...fields]),
    diagnosis.remarks.map((remark) => printable(remark)).join('\n'),
    verdictOf(diagnosis, paint),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** The diagnosis as JSON, without the bodies of responses. */
export function renderJson(diagnosis: Diagnosis): string {
  const calls = diagnosis.calls.map(({ body, durationMs, ...call }) => ({
    ...call,
    durationMs: Math.round(durationMs),
    bytes: body?.length ?? null,
    form: formOf(body),
  }));
  return `${printableJson({ ...diagnosis, calls })}\n`;
}

function callRow({ name, method, url, status, body, durationMs, problem }: RecordedCall, paint: Paint): string[] {
  const isGood = status !== null && status < 300;
  return [
    name,
    paint(isGood ? 'green' : 'red', String(status ?? 'none')),
    String(body?.length ?? ''),
    formOf(body) ?? '',
    String(Math.round(durationMs)),
    printable(problem ?? `${method} ${pathOf(url)}`),
  ];
}

function fieldRow({ field, state, value, path, note }: FieldFinding, paint: Paint): string[] {
  return [
    field,
    paint(STATE_STYLES[state], state),
    value === null ? '' : abbreviate(printable(typeof value === 'string' ? value : JSON.stringify(value))),
    printable([shortPath(path), note].filter((part) => part !== null).join('; ')),
  ];
}

const PATH_STEPS = 3;

/** The start and end of a long path. `--json` has the whole path. */
function shortPath(path: string | null): string | null {
  const steps = path?.split('.') ?? [];
  if (path === null || path.includes('/') || steps.length <= PATH_STEPS + 1) return path;
  return `${steps[0]}…${steps.slice(-PATH_STEPS).join('.')}`;
}

function verdictOf({ failure, isFine, fields }: Diagnosis, paint: Paint): string {
  if (failure !== null) return paint(['red', 'bold'], printable(`${failure.code}: ${failure.message}`));
  if (isFine) return paint(['green', 'bold'], 'All fields are where they are expected.');
  const names = fields.filter(isDrift).map(({ field }) => field);
  return paint(['yellow', 'bold'], `Not as expected: ${names.join(', ')}.`);
}

function formOf(body: Buffer | null): string | null {
  if (body === null || body.length === 0) return null;
  const picture = sniffFormat(body);
  if (picture !== undefined) return picture;
  const start = body.subarray(0, 64).toString('utf8').trimStart().toLowerCase();
  if (start.startsWith('{')) return 'json';
  return start.startsWith('<?xml') ? 'xml' : start.startsWith('<') ? 'html' : 'other';
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return abbreviate(pathname + search);
}

function abbreviate(text: string): string {
  return text.length > VALUE_CHARACTERS ? `${text.slice(0, VALUE_CHARACTERS - 1)}…` : text;
}
