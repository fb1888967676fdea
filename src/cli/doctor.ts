import type { ChannelRef } from '../domain/identifier.ts';
import { systemClock } from '../lib/clock.ts';
import { requireRefs } from './channel-argument.ts';
import { EXIT, type Output, parseCommandLine, UsageError } from './command-line.ts';
import { diagnose } from './doctor/diagnose.ts';
import { renderJson, renderText } from './doctor/report.ts';
import { SOURCE_NAMES, type SourceName, type UpstreamSettings } from './doctor/upstreams.ts';

export interface DoctorContext extends UpstreamSettings, Output {
  readonly isTerminal: boolean;
}

const USAGE = `Usage: pennant doctor @handle|ID|username [--source youtube|youtube-data-api] [--json]
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
    const diagnosis = await diagnose({ ...order, settings, clock: systemClock });
    stdout.write(order.isJson ? renderJson(diagnosis) : renderText(diagnosis, { isColoured: isTerminal }));
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
}

const OPTIONS = { json: { type: 'boolean' }, source: { type: 'string', default: 'youtube' } } as const;

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
  return { isJson: values.json === true, asked, refs, sourceName };
}
