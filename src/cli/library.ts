import { glob, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseConfig } from '../config/settings.ts';
import { channelRefsOf } from '../domain/pasted.ts';
import { isSystemError, readTextIfThere, replaceFile } from '../lib/file-system.ts';
import { CommandFailure, defineCommand, originOf, UsageError } from './command.ts';
import { channelOfNfo, type LibraryChannel, nfoOf } from './nfo.ts';

const NFO = 'tvshow.nfo';
/** GET /api/channels takes at most 50. */
const MAX_CHANNELS_OF_REQUEST = 50;
const MAX_WAIT_SECONDS = 60;
const RESPONSE_MS = 30_000;

export const libraryCommand = defineCommand({
  usage: 'library FOLDER [--instance URL] [--names FILE | --channel ID|@handle]',
  help: `Writes tvshow.nfo files for Jellyfin, Kodi and Plex into a folder that has a folder for each channel. A file has the
channel's title, description and ID, and the URLs of its images on a Pennant instance. A tvshow.nfo of another program
is not changed.

A folder's channel is the one in its name, such as "NAME [UC…]", or of an .info.json file that yt-dlp writes.
  --instance URL     the instance, as the media server reaches it (default: BASE_URL, or this machine and PORT)
  --names FILE       lines of a channel ID or @handle and the name of its folder; missing folders are created
  --channel CHANNEL  FOLDER is the folder of this channel

Exit code: 0 all files are written, 1 some are not and standard error says why, 2 invalid arguments.`,
  argumentName: 'FOLDER',
  options: { instance: { type: 'string' }, names: { type: 'string' }, channel: { type: 'string' } },
  async run({ argument: library, options }, { env, stdout, stderr }) {
    const { host, port, baseUrls } = parseConfig(env);
    const { instance = baseUrls[0] ?? originOf(host, port), names, channel } = options;
    if (!/^https?:\/\/[^/]/.test(instance))
      throw new UsageError('--instance is a URL such as http://192.168.1.5:8080.');
    if (names !== undefined && channel !== undefined) throw new UsageError('Use --names or --channel, not both.');
    const base = instance.replace(/\/$/, '');
    const shows =
      channel !== undefined
        ? [{ folder: library, channel: readChannel(channel) }]
        : names !== undefined
          ? readNames(await readFile(names, 'utf8'), library)
          : await findShows(library);
    if (shows.length === 0) throw new CommandFailure(`${names ?? library} has no channels.`);
    const known = shows.flatMap((show) => show.channel ?? []);
    const results = await loadChannels(base, known, (text) => stderr.write(`${text}\n`));
    let isComplete = true;
    for (const { folder, channel } of shows) {
      try {
        stdout.write(`${await writeNfo(library, folder, recordOf(results.get(channel ?? '')), base)}: written\n`);
      } catch (error) {
        if (!(error instanceof CommandFailure) && !isSystemError(error)) throw error;
        stderr.write(`${folder ?? channel}: ${error.message}\n`);
        isComplete = false;
      }
    }
    return isComplete;
  },
});

/** A folder and its channel. */
interface Show {
  /** Undefined: a folder with the title of the channel. */
  readonly folder: string | undefined;
  /** A channel ID or an @handle. Undefined if none was found. */
  readonly channel: string | undefined;
}

async function findShows(library: string): Promise<readonly Show[]> {
  const entries = await readdir(library, { withFileTypes: true });
  if (entries.some(({ name }) => name === NFO || name.endsWith('.info.json'))) {
    throw new CommandFailure(`${library} is the folder of one channel: name the folder above it, or use --channel.`);
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

function readNames(text: string, library: string): readonly Show[] {
  const lines = text.split('\n').map((line) => line.replace('\ufeff', '').trim());
  const named = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return named.map((line) => {
    const [word = ''] = line.split(/\s/, 1);
    const channel = readChannel(word);
    const folder = channel === undefined ? line : line.slice(word.length).trim();
    return { channel, folder: folder === '' ? undefined : join(library, folder) };
  });
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
  readonly error?: { readonly code: string; readonly detail: string };
}

/** A request loads at most ten new channels, so the channels that it did not load are asked for again. */
async function loadChannels(base: string, channels: readonly string[], say: (text: string) => void) {
  const results = new Map<string, Result>();
  let pending = [...new Set(channels)];
  while (pending.length > 0) {
    for (let start = 0; start < pending.length; start += MAX_CHANNELS_OF_REQUEST) {
      const batch = pending.slice(start, start + MAX_CHANNELS_OF_REQUEST);
      const url = `${base}/api/channels?ids=${batch.map(encodeURIComponent).join(',')}`;
      for (const result of await requestChannels(url, say)) results.set(result.identifier, result);
    }
    const again = pending.filter((channel) => results.get(channel)?.error?.code === 'upstream_unavailable');
    if (again.length === pending.length) break;
    pending = again;
  }
  return results;
}

/** Waits while the rate limit is reached. @throws CommandFailure if the instance does not respond */
async function requestChannels(url: string, say: (text: string) => void): Promise<readonly Result[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) }).catch((cause: unknown) => {
    throw new CommandFailure(`No instance responds at ${new URL(url).origin}.`, { cause });
  });
  const text = await response.text();
  if (response.ok) return (JSON.parse(text) as { readonly results: readonly Result[] }).results;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (response.status !== 429 || !(seconds <= MAX_WAIT_SECONDS)) {
    throw new CommandFailure(`${url} returned ${response.status}: ${text}`);
  }
  say(`The rate limit is reached. Waiting ${seconds} s.`);
  await sleep(seconds * 1_000);
  return requestChannels(url, say);
}

function recordOf(result: Result | undefined): LibraryChannel {
  if (result === undefined) throw new CommandFailure('No channel ID or @handle is known: use --channel.');
  if (result.channel === undefined) throw new CommandFailure(result.error?.detail ?? 'The instance has no record.');
  return result.channel;
}

/** @returns the path of the file */
async function writeNfo(library: string, given: string | undefined, channel: LibraryChannel, base: string) {
  const folder = given ?? join(library, folderName(channel));
  const path = join(folder, NFO);
  const before = await readTextIfThere(path);
  if (before !== undefined && channelOfNfo(before) === undefined) {
    throw new CommandFailure(`${NFO} is of another program, and is not changed.`);
  }
  await mkdir(folder, { recursive: true });
  await replaceFile(path, nfoOf(channel, base));
  return path;
}

/** The title as the name of a folder. Windows and SMB forbid the visible characters; a title may also be "..". */
function folderName({ title, channelId }: LibraryChannel): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: file names have none
  const name = title.replace(/[\u0000-\u001f/\\:*?"<>|]/g, ' ').replace(/^[ .]+/, '');
  return name.trim() || channelId;
}
