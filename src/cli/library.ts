import { glob, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseConfig } from '../config/settings.ts';
import { channelRefsOf } from '../domain/pasted.ts';
import { hasErrorCode, isSystemError } from '../lib/file-system.ts';
import { CommandFailure, defineCommand, UsageError } from './command.ts';
import { findChannelIdInNfo, type LibraryChannel, updateNfo } from './nfo.ts';

const NFO = 'tvshow.nfo';
/** GET /api/channels takes at most 50. */
const MAX_CHANNELS_OF_REQUEST = 50;
const MAX_INFO_FILES = 20;
const MAX_ATTEMPTS = 5;
const MAX_WAIT_SECONDS = 60;
const RESPONSE_MS = 30_000;

export const libraryCommand = defineCommand({
  usage: 'library FOLDER [--instance URL] [--names FILE | --channel ID|@handle] [--background RRGGBB]',
  help: `Writes tvshow.nfo files for Jellyfin, Kodi and Plex into a folder that has a folder for each channel. A file has the
channel's title, description and ID, and the URLs of its images on a Pennant instance.

A folder's channel is the one of its tvshow.nfo, of a name such as "NAME [UC…]", or of the .info.json files that yt-dlp
writes beside videos.
  --instance URL       the instance, as the media server reaches it (default: BASE_URL, or this machine and PORT)
  --names FILE         lines of a channel ID or @handle and the name of its folder; missing folders are created
  --channel CHANNEL    FOLDER is the folder of this channel
  --background RRGGBB  the color around posters (default: 000000)

Exit code: 0 all files are written, 1 some are not and standard error says why, 2 invalid arguments.`,
  argumentName: 'FOLDER',
  options: {
    instance: { type: 'string' },
    names: { type: 'string' },
    channel: { type: 'string' },
    background: { type: 'string', default: '000000' },
  },
  async run({ argument: library, options }, { env, stdout, stderr }) {
    const { port, baseUrls } = parseConfig(env);
    const { instance = baseUrls[0] ?? `http://localhost:${port}`, background, names, channel } = options;
    if (!/^https?:\/\/[^/]/.test(instance))
      throw new UsageError('--instance is a URL such as http://192.168.1.5:8080.');
    if (!/^[0-9a-f]{6}$/i.test(background)) {
      throw new UsageError('--background is six hexadecimal digits, such as 000000.');
    }
    if (names !== undefined && channel !== undefined) throw new UsageError('Use --names or --channel, not both.');
    const base = instance.replace(/\/$/, '');
    const shows = await findShows(library, names, channel);
    if (shows.length === 0) throw new CommandFailure(`${names ?? library} has no channels.`);
    const results = await loadChannels(
      base,
      shows.flatMap(({ channel }) => (typeof channel === 'string' ? channel : [])),
      (text) => stderr.write(`${text}\n`),
    );
    let isComplete = true;
    for (const { name, folder, channel } of shows) {
      try {
        if (channel instanceof CommandFailure) throw channel;
        const record = requireRecord(results.get(channel));
        stdout.write(`${await writeNfo(folder ?? join(library, folderName(record)), record, { base, background })}\n`);
      } catch (error) {
        if (!(error instanceof CommandFailure) && !isSystemError(error)) throw error;
        stderr.write(`${name}: ${error.message}\n`);
        isComplete = false;
      }
    }
    return isComplete;
  },
});

/** A folder and its channel. */
interface Show {
  /** In messages. */
  readonly name: string;
  /** Undefined: a folder with the title of the channel. */
  readonly folder?: string | undefined;
  /** A channel ID, an @handle, or why none was found. */
  readonly channel: string | CommandFailure;
}

async function findShows(library: string, names?: string, channel?: string): Promise<readonly Show[]> {
  if (channel !== undefined) return [{ name: library, folder: library, channel: readChannel(channel) }];
  if (names !== undefined) return readNames(await readFile(names, 'utf8'), library);
  const entries = await readdir(library, { withFileTypes: true });
  if (entries.some(({ name }) => name === NFO || name.endsWith('.info.json'))) {
    throw new CommandFailure(`${library} is the folder of one channel: name the folder above it, or use --channel.`);
  }
  const folders = entries.filter((entry) => entry.isDirectory() && !/^[.@#]/.test(entry.name));
  const paths = folders.map(({ name }) => join(library, name)).toSorted();
  const shows: Show[] = [];
  // In turn: a library has more folders than a process may have open files.
  for (const folder of paths) shows.push({ name: folder, folder, channel: await findChannel(folder) });
  return shows;
}

function readNames(text: string, library: string): readonly Show[] {
  const lines = text.split('\n').map((line) => line.replace('\ufeff', '').trim());
  const named = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return named.map((line) => {
    const [channel = ''] = line.split(/\s/, 1);
    const folder = line.slice(channel.length).trim();
    return { name: line, folder: folder === '' ? undefined : join(library, folder), channel: readChannel(channel) };
  });
}

/** A channel ID or an @handle, as GET /api/channels takes them. */
function readChannel(text: string): string | CommandFailure {
  const [ref] = channelRefsOf(text);
  if (ref?.kind === 'id') return ref.value;
  if (ref?.kind === 'handle') return `@${ref.value}`;
  return new CommandFailure(`"${text}" is neither a channel ID nor an @handle.`);
}

async function findChannel(folder: string): Promise<string | CommandFailure> {
  try {
    const nfo = await readIfThere(join(folder, NFO));
    const known = (nfo && findChannelIdInNfo(nfo)) || /\[(UC[\w-]{22})\]/.exec(basename(folder))?.[1];
    if (known) return known;
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
  const [channel, ...others] = await findChannelsOfVideos(folder);
  if (channel === undefined) return new CommandFailure('No .info.json file names a channel: use --channel.');
  if (others.length === 0) return channel;
  return new CommandFailure(`It has videos of ${[channel, ...others].join(' and ')}: choose a channel with --channel.`);
}

async function findChannelsOfVideos(folder: string): Promise<readonly string[]> {
  const channels = new Set<string>();
  let files = 0;
  for await (const file of glob('**/*.info.json', { cwd: folder })) {
    const channel = /"channel_id":\s*"(UC[\w-]{22})"/.exec(await readFile(join(folder, file), 'utf8'))?.[1];
    if (channel !== undefined) channels.add(channel);
    files += 1;
    if (files === MAX_INFO_FILES) break;
  }
  return [...channels].toSorted();
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** An item of GET /api/channels. */
interface Result {
  readonly identifier: string;
  readonly channel?: LibraryChannel;
  readonly error?: { readonly code?: string; readonly detail: string };
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

function requireRecord(result: Result | undefined): LibraryChannel {
  if (result?.channel !== undefined) return result.channel;
  throw new CommandFailure(result?.error?.detail ?? 'The instance did not answer for this channel.');
}

/** Waits if the rate limit is reached. @throws CommandFailure if the instance does not respond */
async function requestChannels(url: string, say: (text: string) => void): Promise<readonly Result[]> {
  for (let attempt = 1; ; attempt += 1) {
    let response: Response;
    try {
      response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_MS) });
      const { results, detail } = (await response.json()) as { results?: readonly Result[]; detail?: string };
      if (response.ok && results !== undefined) return results;
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (!(seconds <= MAX_WAIT_SECONDS) || attempt === MAX_ATTEMPTS) {
        throw new CommandFailure(`${url} returned ${response.status}. ${detail ?? ''}`);
      }
      say(`${detail ?? `The instance returned ${response.status}.`} Waiting ${seconds} s.`);
      await sleep(seconds * 1_000);
    } catch (error) {
      if (error instanceof CommandFailure) throw error;
      throw new CommandFailure(`No instance responds at ${new URL(url).origin}.`, { cause: error });
    }
  }
}

/** The title as the name of a folder. Windows and SMB forbid the visible characters; a title may also be "..". */
function folderName({ title, channelId }: LibraryChannel): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: file names have none
  const name = title.replace(/[\u0000-\u001f/\\:*?"<>|]/g, ' ').replace(/^[ .]+/, '');
  return name.trim() || channelId;
}

interface PosterOptions {
  readonly base: string;
  readonly background: string;
}

/** @returns a line that says what was done */
async function writeNfo(folder: string, channel: LibraryChannel, options: PosterOptions): Promise<string> {
  const path = join(folder, NFO);
  const before = await readIfThere(path);
  const after = updateNfo(before, channel, imageUrls(channel, options));
  if (after === before) return `${path}: unchanged`;
  await mkdir(folder, { recursive: true });
  // So that a media server never reads half of the file.
  const draft = join(folder, `.${NFO}.new`);
  await writeFile(draft, after);
  await rename(draft, path);
  return `${path}: written`;
}

function imageUrls({ channelId, avatarUrl, bannerUrl }: LibraryChannel, { base, background }: PosterOptions) {
  const url = (image: string) => `${base}/${channelId}/${image}`;
  return {
    ...(avatarUrl !== null && {
      poster: url(`avatar.jpg?width=800&height=1200&fit=contain&background=${background}`),
    }),
    ...(bannerUrl !== null && {
      landscape: url('tv.jpg?width=1000'),
      banner: url('desktop.jpg?width=1000&height=185'),
      fanart: url('tv.jpg?width=1920'),
    }),
  };
}
