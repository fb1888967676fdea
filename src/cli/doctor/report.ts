import { styleText } from 'node:util';
import { sniffFormat } from '../../domain/formats.ts';
import { printable, printableJson } from '../../domain/printable.ts';
import { type FieldFinding, type FieldState, isDrift } from '../../sources/source.ts';
import type { Diagnosis } from './diagnose.ts';
import type { RecordedCall } from './upstreams.ts';

type Style = Parameters<typeof styleText>[0];

interface Cell {
  readonly text: string;
  readonly style?: Style;
}

const STATE_STYLES: Record<FieldState, Style> = {
  fine: 'green',
  absent: 'dim',
  older: 'yellow',
  rounded: 'yellow',
  unreadable: 'red',
  missing: 'red',
};

const VALUE_CHARACTERS = 48;

/** The diagnosis as text: tables of calls and fields, and a verdict. */
export function renderText(diagnosis: Diagnosis, { isColoured }: { readonly isColoured: boolean }): string {
  const paint = ({ text, style }: Cell) =>
    isColoured && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  const sections = [
    `${printable(diagnosis.asked)} from ${diagnosis.source} (${diagnosis.origin})`,
    renderTable(['call', 'status', 'bytes', 'form', 'ms', 'address'], diagnosis.calls.map(callRow), paint),
    renderTable(['field', 'state', 'value', 'from'], diagnosis.fields.map(fieldRow), paint),
    diagnosis.remarks.map((remark) => printable(remark)).join('\n'),
    paint(verdictOf(diagnosis)),
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

function callRow({ name, method, url, status, body, durationMs, problem }: RecordedCall): Cell[] {
  const isGood = status !== null && status < 300;
  return [
    { text: name },
    { text: status === null ? 'none' : String(status), style: isGood ? 'green' : 'red' },
    { text: body === null ? '' : String(body.length) },
    { text: formOf(body) ?? '' },
    { text: String(Math.round(durationMs)) },
    { text: printable(problem ?? `${method} ${pathOf(url)}`) },
  ];
}

function fieldRow({ field, state, value, path, note }: FieldFinding): Cell[] {
  return [
    { text: field },
    { text: state, style: STATE_STYLES[state] },
    { text: value === null ? '' : abbreviate(printable(typeof value === 'string' ? value : JSON.stringify(value))) },
    { text: printable([shortPath(path), note].filter((part) => part !== null).join('; ')) },
  ];
}

const PATH_STEPS = 3;

/** The start and end of a long path. `--json` has the whole path. */
function shortPath(path: string | null): string | null {
  const steps = path?.split('.') ?? [];
  if (path === null || path.includes('/') || steps.length <= PATH_STEPS + 1) return path;
  return `${steps[0]}…${steps.slice(-PATH_STEPS).join('.')}`;
}

function verdictOf({ failure, isFine, fields }: Diagnosis): Cell {
  if (failure !== null) return { text: printable(`${failure.code}: ${failure.message}`), style: ['red', 'bold'] };
  if (isFine) return { text: 'All fields are where they are expected.', style: ['green', 'bold'] };
  const names = fields.filter(isDrift).map(({ field }) => field);
  return { text: `Not as expected: ${names.join(', ')}.`, style: ['yellow', 'bold'] };
}

function renderTable(heads: readonly string[], rows: Cell[][], paint: (cell: Cell) => string): string {
  if (rows.length === 0) return '';
  const all = [heads.map((head): Cell => ({ text: head.toUpperCase(), style: 'bold' })), ...rows];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.text.length ?? 0)));
  return all.map((row) => renderRow(row, widths, paint)).join('\n');
}

function renderRow(row: readonly Cell[], widths: readonly number[], paint: (cell: Cell) => string): string {
  const cells = row.map((cell, column) => paint(cell) + ' '.repeat((widths[column] ?? 0) - cell.text.length));
  return cells.join('  ').trimEnd();
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
