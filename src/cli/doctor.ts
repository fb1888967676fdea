import { parseConfig } from '../config/settings.ts';
import { printable } from '../domain/printable.ts';
import { systemClock } from '../lib/clock.ts';
import { defineCommand, requireRefs, UsageError } from './command.ts';
import { diagnose } from './doctor/diagnose.ts';
import { requireNames, requireNewDirectory, saveRecording } from './doctor/recording.ts';
import { renderJson, renderText } from './doctor/report.ts';
import { SOURCE_NAMES } from './doctor/upstreams.ts';

export const doctorCommand = defineCommand({
  usage: `doctor @handle|ID|username [--source youtube|youtube-data-api] [--json]
                      [--record DIRECTORY [--keep NAME]…]`,
  help: `Loads a channel and its pictures from upstream, without any cache, and shows every call and every
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

Exit code: 0 all fields fine or absent, 1 anything else or no record, 2 invalid arguments.`,
  argumentName: '@handle|ID|username',
  options: {
    json: { type: 'boolean' },
    source: { type: 'string', default: 'youtube' },
    record: { type: 'string' },
    keep: { type: 'string', multiple: true },
  },
  async run({ argument, options }, { version, env, stdout, stderr }) {
    const { json, source, record: directory, keep = [] } = options;
    const sourceName = SOURCE_NAMES.find((name) => name === source);
    if (sourceName === undefined)
      throw new UsageError(`There is no source "${source}". Sources: ${SOURCE_NAMES.join(', ')}.`);
    const refs = requireRefs(argument);
    const config = parseConfig(env);
    if (sourceName === 'youtube-data-api' && config.youtubeApiKey === undefined) {
      throw new UsageError('YOUTUBE_API_KEY is not set.');
    }
    const moreNames = requireNames(keep);
    if (directory === undefined && moreNames.length > 0) throw new UsageError('--keep needs --record.');
    if (directory !== undefined && sourceName !== 'youtube') {
      throw new UsageError('--record works with the source youtube only.');
    }
    if (directory !== undefined) await requireNewDirectory(directory);
    const diagnosis = await diagnose({
      asked: argument,
      refs,
      sourceName,
      // A moved field may be outside the parts that the service requests.
      config: directory === undefined ? config : { ...config, youtubeFieldMask: false },
      userAgent: `Pennant/${version}`,
    });
    const isColoured = stdout.isTTY === true && stdout.hasColors?.() === true;
    stdout.write(json ? renderJson(diagnosis) : renderText(diagnosis, { isColoured }));
    if (directory !== undefined) {
      const { files, leftOut } = await saveRecording(directory, diagnosis, { moreNames, nowMs: systemClock.now() });
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
