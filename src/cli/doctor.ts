import type { ChannelRef } from '../domain/identifier.ts';
import { printable } from '../domain/printable.ts';
import { systemClock } from '../lib/clock.ts';
import { requireRefs } from './command-group.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';
import { diagnose } from './doctor/diagnose.ts';
import { requireNames, requireNewDirectory, saveRecording } from './doctor/recording.ts';
import { renderJson, renderText } from './doctor/report.ts';
import { SOURCE_NAMES, type SourceName, type UpstreamSettings } from './doctor/upstreams.ts';

export interface DoctorContext extends UpstreamSettings, Output {
  readonly isTerminal: boolean;
}

const USAGE = `Usage: pennant doctor @handle|ID|username [--source youtube|youtube-data-api] [--json]
                      [--record DIRECTORY [--keep NAME]…]
`;
const HELP = `${USAGE}
Loads a channel and its pictures from upstream, without any cache, and shows every call and every
field of the record: its value, where it was found, and whether upstream has changed. Choose a channel
that has everything (a banner, a country, links).

  fine        found at its path in the newest layout
  absent      not found, and optional
  older       found only at a path of an older layout
  rounded     found only as a rounded count
  unreadable  found in an unknown form
  missing     not found, although every ordinary channel has it

--record writes the responses, and the values that were read from them, into a new directory, in the
form of test/fixtures/youtube: only members with known names, without tokens, addresses and keys. It
loads whole pages. --keep NAME also keeps members with this name.

Exit code: 0 all fields fine or absent, 1 anything else or no record, 2 invalid arguments.
`;

/** Runs `doctor` and returns the exit code: 0 fine, 1 drift or failure, 2 invalid arguments. */
export async function runDoctorCommand(args: readonly string[], context: DoctorContext): Promise<number> {
  const { stdout, stderr, isTerminal, ...settings } = context;
  try {
    const order = readOrder(args, settings);
    if (order === undefined) {
      stdout.write(HELP);
      return EXIT.done;
    }
    const { recording } = order;
    if (recording !== undefined) await requireNewDirectory(recording.directory);
    // A moved field may be outside the parts that the service requests.
    const asked = recording === undefined ? settings : withWholePages(settings);
    const diagnosis = await diagnose({ ...order, settings: asked, clock: systemClock });
    stdout.write(order.isJson ? renderJson(diagnosis) : renderText(diagnosis, { isColoured: isTerminal }));
    if (recording !== undefined) {
      const { directory, moreNames } = recording;
      const { files, leftOut } = await saveRecording(directory, diagnosis, { moreNames, nowMs: systemClock.now() });
      const lines = [
        files.length === 0
          ? 'Nothing was written: no response was JSON.'
          : `Written into ${directory}: ${files.join(', ')}`,
        ...(leftOut.length === 0 ? [] : [`Left out below ${moreNames.join(', ')}: ${leftOut.join(', ')}`]),
      ];
      stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
    }
    return diagnosis.isFine ? EXIT.done : EXIT.failed;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`${error.message}\n${USAGE}`);
    return EXIT.usage;
  }
}

interface Order {
  readonly isJson: boolean;
  readonly asked: string;
  readonly refs: readonly ChannelRef[];
  readonly sourceName: SourceName;
  readonly recording?: { readonly directory: string; readonly moreNames: readonly string[] };
}

const OPTIONS = {
  json: { type: 'boolean' },
  source: { type: 'string', default: 'youtube' },
  record: { type: 'string' },
  keep: { type: 'string', multiple: true },
} as const;

function withWholePages(settings: UpstreamSettings): UpstreamSettings {
  return { ...settings, youtube: { ...settings.youtube, useFieldMask: false } };
}

/**
 * @returns `undefined` for `--help`
 * @throws UsageError
 */
function readOrder(args: readonly string[], { dataApi }: UpstreamSettings): Order | undefined {
  const { values, positionals } = parseCommandLine(args, OPTIONS);
  if (values.help === true) return undefined;
  const sourceName = SOURCE_NAMES.find((name) => name === values.source);
  if (sourceName === undefined)
    throw new UsageError(`There is no source "${values.source}". Sources: ${SOURCE_NAMES.join(', ')}.`);
  const [asked = ''] = positionals;
  if (positionals.length !== 1) throw new UsageError('Name exactly one channel.');
  const refs = requireRefs(asked);
  if (sourceName === 'youtube-data-api' && dataApi.apiKey === undefined) {
    throw new UsageError('YOUTUBE_API_KEY is not set.');
  }
  const order = { isJson: values.json === true, asked, refs, sourceName };
  const moreNames = requireNames(values.keep ?? []);
  if (values.record === undefined) {
    if (moreNames.length > 0) throw new UsageError('--keep needs --record.');
    return order;
  }
  if (sourceName !== 'youtube') throw new UsageError('--record works with the source youtube only.');
  return { ...order, recording: { directory: values.record, moreNames } };
}
