import { glob, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseConfig } from '../config/settings.ts';
import { OperatorError } from '../domain/errors.ts';
import { channelRefsOf } from '../domain/pasted.ts';
import { isSystemError, readTextIfThere, replaceFile } from '../lib/file-system.ts';
import { printable } from '../lib/printable.ts';
import { defineCommand, originOf, UsageError } from './command.ts';
import { channelOfNfo, type LibraryChannel, nfoOf } from './nfo.ts';

const NFO = 'tvshow.nfo';
/** GET /api/channels loads at most ten new channels. */
const CHANNELS_OF_REQUEST = 10;
const MAX_WAIT_SECONDS = 60;
const RESPONSE_MS = 30_000;

export const libraryCommand = defineCommand({
  usage: 'library FOLDER [--instance URL] [--channel ID|@handle]',
  help: `Writes tvshow.nfo files for Jellyfin, Kodi and Plex into a folder that has a folder for each channel. A file has the
channel's title, description and ID, and the URLs of its images on a Pennant instance. A tvshow.nfo of another program
is not changed.

A folder's channel is the one in its name, such as "NAME [UC…]", or of an .info.json file that yt-dlp writes.
  --instance URL     the instance, as the media server reaches it (default: BASE_URL, or this machine and PORT)
  --channel CHANNEL  FOLDER is the folder of this channel

Exit code: 0 all files are written, 1 some are not and standard error says why, 2 invalid arguments.`,
  argumentName: 'FOLDER',
  options: { instance: { type: 'string' }, channel: { type: 'string' } },
  async run({ argument: library, options }, { env, stdout, stderr }) {
    const { host, port, baseUrls } = parseConfig(env);
    const { instance = baseUrls[0] ?? originOf(host, port), channel } = options;
    if (!/^https?:\/\/[^/]/.test(instance))
      throw new UsageError('--instance is a URL such as http://192.168.1.5:8080.');
    const base = instance.replace(/\/$/, '');
    const shows =
      channel === undefined ? await findShows(library) : [{ folder: library, channel: readChannel(channel) }];
    if (shows.length === 0) throw new OperatorError(`${library} has no channels.`);
    const known = new Set(shows.flatMap((show) => show.channel ?? []));
    const results = await loadChannels(base, [...known], (text) => stderr.write(`${text}\n`));
    let isComplete = true;
    for (const { folder, channel } of shows) {
      try {
        const path = join(folder, NFO);
        await writeNfo(path, recordOf(results.get(channel ?? '')), base);
        stdout.write(`${path}: written\n`);
      } catch (error) {
        if (!(error instanceof OperatorError) && !isSystemError(error)) throw error;
        stderr.write(`${folder}: ${printable(error.message)}\n`);
        isComplete = false;
      }
    }
    return isComplete;
  },
});

/** A folder and its channel. */
interface Show {
  readonly folder: string;
  /** An ID or an @handle. */
  readonly channel: string | undefined;
}

async function findShows(library: string): Promise<readonly Show[]> {
  const entries = await readdir(library, { withFileTypes: true });
  if (entries.some(({ name }) => name === NFO || name.endsWith('.info.json'))) {
    throw new OperatorError(`${library} is the folder of one channel: name the folder above it, or use --channel.`);
  }
  const folders = entries.filter((entry) => entry.isDirectory() && !/^[.@#]/.test(entry.name));
  const paths = folders.map(({ name }) => join(library, name)).toSorted();
  const shows: Show[] = [];
  // In turn: a library has more folders than a process may have open files.
  for (const folder of paths) shows.push({ folder, channel: await findChannel(folder) });
  return shows;
}

async function findChannel(folder: string): Promise<string | undefined> {
  const nfo = await readTextIfThere(join(folder, NFO));
  const named = (nfo && channelOfNfo(nfo)) ?? /\[(UC[\w-]{22})\]/.exec(basename(folder))?.[1];
  if (named !== undefined) return named;
  for await (const file of glob('**/*.info.json', { cwd: folder })) {
    const channel = /"channel_id":\s*"(UC[\w-]{22})"/.exec(await readFile(join(folder, file), 'utf8'))?.[1];
    if (channel !== undefined) return channel;
  }
  return undefined;
}

/** A channel ID or an @handle, as GET /api/channels takes them. */
function readChannel(text: string): string | undefined {
  const [ref] = channelRefsOf(text);
  if (ref?.kind === 'handle') return `@${ref.value}`;
  return ref?.kind === 'id' ? ref.value : undefined;
}

/** An item of GET /api/channels. */
interface Result {
  readonly identifier: string;
  readonly channel?: LibraryChannel;
  readonly error?: { readonly detail: string };
}

async function loadChannels(base: string, channels: readonly string[], say: (text: string) => void) {
  const results = new Map<string, Result>();
  for (let start = 0; start < channels.length; start += CHANNELS_OF_REQUEST) {
    const batch = channels.slice(start, start + CHANNELS_OF_REQUEST);
    const url = `${base}/api/channels?ids=${batch.map(encodeURIComponent).join(',')}`;
    for (const result of await requestChannels(url, say)) results.set(result.identifier, result);
  }
  return results;
}

/** Waits while the rate limit is reached. @throws OperatorError if the instance does not respond */
async function requestChannels(url: string, say: (text: string) => void): Promise<readonly Result[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) }).catch((cause: unknown) => {
    throw new OperatorError(`No instance responds at ${new URL(url).origin}.`, { cause });
  });
  const text = await response.text();
  if (response.ok) return (JSON.parse(text) as { readonly results: readonly Result[] }).results;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.status !== 429 || !(seconds <= MAX_WAIT_SECONDS)) {
    throw new OperatorError(`${url} returned ${response.status}: ${text}`);
  }
  say(`The rate limit is reached. Waiting ${seconds} s.`);
  await sleep(seconds * 1_000);
  return requestChannels(url, say);
}

function recordOf(result: Result | undefined): LibraryChannel {
  if (result === undefined) throw new OperatorError('No channel ID or @handle is known: use --channel.');
  if (result.channel === undefined) throw new OperatorError(result.error?.detail ?? 'The instance has no record.');
  return result.channel;
}

async function writeNfo(path: string, channel: LibraryChannel, base: string): Promise<void> {
  const before = await readTextIfThere(path);
  if (before !== undefined && channelOfNfo(before) === undefined) {
    throw new OperatorError(`${NFO} is of another program, and is not changed.`);
  }
  await replaceFile(path, nfoOf(channel, base));
}
