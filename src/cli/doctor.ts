import { parseArgs } from 'node:util';
import type { ChannelRef } from '../domain/identifier.ts';
import { systemClock } from '../lib/clock.ts';
import { refsOfArgument } from './channel-argument.ts';
import { diagnose } from './doctor/diagnose.ts';
import { renderJson, renderText } from './doctor/report.ts';
import { SOURCE_NAMES, type SourceName, type UpstreamSettings } from './doctor/upstreams.ts';

export interface DoctorContext extends UpstreamSettings {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly isTerminal: boolean;
}

const USAGE = `Usage: doctor @handle|ID|username [--source youtube|youtube-data-api] [--json]
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

const EXIT_FINE = 0;
const EXIT_NOT_FINE = 1;
const EXIT_USAGE = 2;

/** Runs `doctor` and answers the exit code: 0 fine, 1 drift or failure, 2 unusable arguments. */
export async function runDoctorCommand(args: readonly string[], context: DoctorContext): Promise<number> {
  const { stdout, stderr, isTerminal, ...settings } = context;
  const order = readOrder([...args], settings);
  if ('mistake' in order) {
    stderr.write(`${order.mistake}\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (order.isHelpWanted) {
    stdout.write(HELP);
    return EXIT_FINE;
  }
  const diagnosis = await diagnose({ ...order, settings, clock: systemClock });
  stdout.write(order.isJson ? renderJson(diagnosis) : renderText(diagnosis, { isColoured: isTerminal }));
  return diagnosis.isFine ? EXIT_FINE : EXIT_NOT_FINE;
}

interface Order {
  readonly isHelpWanted: boolean;
  readonly isJson: boolean;
  readonly asked: string;
  readonly refs: readonly ChannelRef[];
  readonly sourceName: SourceName;
}

function readOrder(args: string[], { dataApi }: UpstreamSettings): Order | { readonly mistake: string } {
  const parsed = parseOptions(args);
  if ('mistake' in parsed) return parsed;
  const { values, positionals } = parsed;
  const [asked = ''] = positionals;
  const refs = refsOfArgument(asked);
  const isHelpWanted = values.help === true;
  const sourceName = SOURCE_NAMES.find((name) => name === values.source);
  if (sourceName === undefined) return { mistake: `There is no source "${values.source}" to ask.` };
  if (!isHelpWanted) {
    if (positionals.length !== 1) return { mistake: 'Exactly one channel is needed.' };
    if (refs.length === 0) return { mistake: `"${asked}" is no channel ID, handle or user name.` };
    if (sourceName === 'youtube-data-api' && dataApi.apiKey === undefined) {
      return { mistake: 'YOUTUBE_API_KEY is not set.' };
    }
  }
  return { isHelpWanted, isJson: values.json === true, asked, refs, sourceName };
}

function parseOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
        source: { type: 'string', default: 'youtube' },
      },
    });
  } catch (error) {
    if (error instanceof TypeError) return { mistake: error.message };
    throw error;
  }
}
