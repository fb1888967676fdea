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
Asks the upstream itself for a channel and its pictures, past every cache, and shows each call and
each field of the record: what came, from which part of the answer, and what is not where it is
known to be. Choose a channel that has everything (a banner, a country, links).

  fine        from where the newest layout has it
  absent      the channel need not have it
  older       only from where an older layout has it
  rounded     only as a rounded stopgap
  unreadable  there, in an unknown form
  missing     nowhere, though every ordinary channel has it

--record writes the answers, and the values that were read from them, into a new directory, in the
form of test/fixtures/youtube: members with known names only, without tokens, addresses and keys.
Whole pages are asked for then. --keep NAME keeps members with that name too.

Exit code: 0 all fine or absent, 1 anything else or no record at all, 2 unusable arguments.
`;

/** Runs `doctor` and answers the exit code: 0 fine, 1 drift or failure, 2 unusable arguments. */
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
    // What has moved may stand outside of the parts that the service asks for.
    const asked = recording === undefined ? settings : withWholePages(settings);
    const diagnosis = await diagnose({ ...order, settings: asked, clock: systemClock });
    stdout.write(order.isJson ? renderJson(diagnosis) : renderText(diagnosis, { isColoured: isTerminal }));
    if (recording !== undefined) {
      const { directory, moreNames } = recording;
      const { files, leftOut } = await saveRecording(directory, diagnosis, { moreNames, nowMs: systemClock.now() });
      const lines = [
        files.length === 0
          ? 'Nothing was written: no answer was JSON.'
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
 * @returns `undefined` when help is wanted
 * @throws UsageError
 */
function readOrder(args: readonly string[], { dataApi }: UpstreamSettings): Order | undefined {
  const { values, positionals } = parseCommandLine(args, OPTIONS);
  if (values.help === true) return undefined;
  const sourceName = SOURCE_NAMES.find((name) => name === values.source);
  if (sourceName === undefined) throw new UsageError(`There is no source "${values.source}" to ask.`);
  const [asked = ''] = positionals;
  if (positionals.length !== 1) throw new UsageError('Exactly one channel is needed.');
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
  if (sourceName !== 'youtube') throw new UsageError('--record is for the source youtube.');
  return { ...order, recording: { directory: values.record, moreNames } };
}
