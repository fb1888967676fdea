import { styleText } from 'node:util';
import { parseConfig } from '../config/settings.ts';
import { sniffFormat } from '../domain/formats.ts';
import { printable, printableJson } from '../lib/printable.ts';
import { type FieldFinding, isDrift } from '../sources/source.ts';
import { CHANNEL_FIELDS } from '../sources/youtube/layouts.ts';
import { defineCommand, formatTable, requireRefs, UsageError } from './command.ts';
import { type Diagnosis, diagnose } from './doctor/diagnose.ts';
import { type RecordedCall, SOURCE_NAMES } from './doctor/recorded-calls.ts';
import { requireNames, requireNewDirectory, saveRecording } from './doctor/recording.ts';

export const doctorCommand = defineCommand({
  usage: `doctor @handle|ID|username [--source youtube|youtube-data-api] [--expect FIELD,…]
                      [--json] [--record DIRECTORY [--keep NAME]…]`,
  help: `Loads a channel and its images from upstream, without any cache, and shows every call and every
field of the record: its value, where it was found, and whether upstream has changed. Then searches for
the channel. Choose a channel that has a banner, a country and links.

  fine        found at its path in the newest layout
  absent      not found, and optional
  older       found only at a path of an older layout
  rounded     found only as a rounded count
  unreadable  found in an unknown form
  missing     not found, although every ordinary channel has it or --expect names it

--expect names fields that this channel has, such as banner,country,links: without it, a field that the
channel may lack passes as absent. The result is then one line, for a timer; --json shows everything.

--record writes the responses about the channel, and the values that were read from them, into a new
directory, in the form of test/fixtures/youtube: only members with known names, without tokens, addresses
and keys. It loads whole pages. --keep NAME also keeps members with this name.

Exit code: 0 all fields fine or absent, 1 anything else or no record, 2 invalid arguments.`,
  argumentName: '@handle|ID|username',
  options: {
    json: { type: 'boolean' },
    source: { type: 'string', default: 'youtube' },
    expect: { type: 'string' },
    record: { type: 'string' },
    keep: { type: 'string', multiple: true },
  },
  async run({ argument, options }, { version, env, stdout, stderr }) {
    const { json, source, expect, record: directory, keep: moreNames = [] } = options;
    const expected = parseExpected(expect);
    const sourceName = SOURCE_NAMES.find((name) => name === source);
    if (sourceName === undefined)
      throw new UsageError(`There is no source "${source}". Sources: ${SOURCE_NAMES.join(', ')}.`);
    const refs = requireRefs(argument);
    const config = parseConfig(env);
    if (sourceName === 'youtube-data-api' && config.youtubeApiKey === undefined) {
      throw new UsageError('YOUTUBE_API_KEY is not set.');
    }
    requireNames(moreNames);
    if (directory === undefined && moreNames.length > 0) throw new UsageError('--keep needs --record.');
    if (directory !== undefined && sourceName !== 'youtube') {
      throw new UsageError('--record works with the source youtube only.');
    }
    if (directory !== undefined) await requireNewDirectory(directory);
    const diagnosis = await diagnose({
      asked: argument,
      refs,
      sourceName,
      expected,
      config,
      wantsWholePages: directory !== undefined,
      userAgent: `Pennant/${version}`,
    });
    const isColored = stdout.isTTY === true && stdout.hasColors?.() === true;
    const render = expect === undefined ? renderText : renderLine;
    stdout.write(json ? renderJson(diagnosis) : render(diagnosis, { isColored }));
    if (directory !== undefined) {
      const { files, leftOut } = await saveRecording(directory, diagnosis, moreNames);
      const lines = [
        files.length === 0
          ? 'Nothing was written: no response was JSON.'
          : `Written into ${directory}: ${files.join(', ')}`,
        ...(leftOut.length === 0 ? [] : [`Left out below ${moreNames.join(', ')}: ${leftOut.join(', ')}`]),
      ];
      stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
    }
    return diagnosis.isFine;
  },
});

/** @throws UsageError for what is no field of a record */
function parseExpected(text: string | undefined): string[] {
  const names = text?.split(',').map((name) => name.trim()) ?? [];
  const unknown = names.find((name) => !CHANNEL_FIELDS.some((field) => field === name));
  if (unknown === undefined) return names;
  throw new UsageError(`"${unknown}" is not a field. Fields: ${CHANNEL_FIELDS.join(', ')}.`);
}

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

interface RenderOptions {
  readonly isColored: boolean;
}

function createPaint({ isColored }: RenderOptions): Paint {
  return (style, text) => (isColored ? styleText(style, text, { validateStream: false }) : text);
}

/** The channel, and the verdict with its reasons. */
function renderLine(diagnosis: Diagnosis, options: RenderOptions): string {
  const reasonOf = ({ field, state, note }: FieldFinding) =>
    `${field} (${state}${note === null ? '' : `: ${printable(note)}`})`;
  return `${printable(diagnosis.asked)}: ${verdictOf(diagnosis, createPaint(options), reasonOf)}\n`;
}

/** The diagnosis as text: tables of calls and fields, and a verdict. */
function renderText(diagnosis: Diagnosis, options: RenderOptions): string {
  const paint = createPaint(options);
  const heads = (...names: string[]) => names.map((name) => paint('bold', name.toUpperCase()));
  const calls = diagnosis.calls.map((call) => callRow(call, paint));
  const fields = diagnosis.fields.map((field) => fieldRow(field, paint));
  const sections = [
    `${printable(diagnosis.asked)} from ${diagnosis.source} (${diagnosis.origin})`,
    calls.length === 0 ? '' : formatTable([heads('call', 'status', 'bytes', 'form', 'ms', 'address'), ...calls]),
    fields.length === 0 ? '' : formatTable([heads('field', 'state', 'value', 'from'), ...fields]),
    diagnosis.remarks.map((remark) => printable(remark)).join('\n'),
    verdictOf(diagnosis, paint, ({ field }) => field),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** The diagnosis as JSON, without the bodies of responses. */
function renderJson(diagnosis: Diagnosis): string {
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

function verdictOf(
  { failure, isFine, fields }: Diagnosis,
  paint: Paint,
  reasonOf: (finding: FieldFinding) => string,
): string {
  if (failure !== null) return paint(['red', 'bold'], printable(`${failure.code}: ${failure.message}`));
  if (isFine) return paint(['green', 'bold'], 'All fields are where they are expected.');
  return paint(['yellow', 'bold'], `Not as expected: ${fields.filter(isDrift).map(reasonOf).join(', ')}.`);
}

function formOf(body: Buffer | null): string | null {
  if (body === null || body.length === 0) return null;
  const image = sniffFormat(body);
  if (image !== undefined) return image;
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
