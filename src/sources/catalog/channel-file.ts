import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OperatorError } from '../../domain/errors.ts';
import type { IdentifierKind } from '../../domain/identifier.ts';
import { isSystemError } from '../../lib/file-system.ts';
import { printable } from '../../lib/printable.ts';
import { FileRefusedError, imagesDirOf, listImages, MIB, readFileIn } from './files.ts';
import { namesOf, parseRecord, RecordRefusedError } from './record.ts';
import { type OwnChannel, searchable } from './search.ts';

const MAX_FILE_MIB = 64;
/** This is several times the longest possible record. */
const MAX_LINE_MIB = 1;
/** A message has a path and a mistake. */
const MAX_MESSAGE_CHARACTERS = 1_000;
/** How long lines are read before other work runs. */
const STEP_MS = 5;

const LINE_FEED = 0x0a;

/** The catalog cannot be read. The message, for the operator, names the file and the line. */
export class CatalogUnusableError extends OperatorError {
  constructor(message: string, options?: ErrorOptions) {
    super(printable(message, MAX_MESSAGE_CHARACTERS), options);
  }
}

/** The file of the channels in a catalog's folder. */
export function channelFileOf(folder: string): string {
  return join(folder, 'channels.ndjson');
}

/** The channels of a catalog, found by their ID, handle or user name. A catalog has no custom names. */
type OwnChannels = Readonly<Record<Exclude<IdentifierKind, 'custom'>, ReadonlyMap<string, OwnChannel>>>;

/**
 * Reads all channels, in steps between which other work runs.
 *
 * @throws CatalogUnusableError if a file cannot be read, a line has a mistake or names an image that is not there, or two
 *   lines have the same ID or name
 */
export async function readChannelFile(folder: string): Promise<OwnChannels> {
  const file = channelFileOf(folder);
  const channels = { id: new Map(), handle: new Map(), username: new Map() };
  const bytes = await orUnusable(file, readFileIn(folder, file, MAX_FILE_MIB));
  const images = new Set(await orUnusable(imagesDirOf(folder), listImages(folder)));
  let number = 0;
  let stepEndsMs = 0;
  for (const line of linesOf(bytes)) {
    number += 1;
    if (performance.now() > stepEndsMs) {
      await nextTurn();
      stepEndsMs = performance.now() + STEP_MS;
    }
    try {
      addLine(channels, images, line);
    } catch (error) {
      if (!(error instanceof RecordRefusedError)) throw error;
      throw new CatalogUnusableError(`${file}, line ${number}: ${error.message}`);
    }
  }
  return channels;
}

/** @throws CatalogUnusableError if the file or folder cannot be read or is refused */
async function orUnusable<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof FileRefusedError) throw new CatalogUnusableError(`${path} ${error.message}.`);
    if (!isSystemError(error)) throw error;
    throw new CatalogUnusableError(`${path} cannot be read (${error.message}).`, { cause: error });
  }
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

type Channels = Readonly<Record<keyof OwnChannels, Map<string, OwnChannel>>>;

/** @throws RecordRefusedError */
function addLine(channels: Channels, images: ReadonlySet<string>, line: Buffer): void {
  const text = decode(line);
  if (text.trim() === '') return;
  const record = parseRecord(text);
  requireImage('bannerFile', images, record.bannerFile);
  requireImage('avatarFile', images, record.avatarFile);
  const channel = searchable(record);
  const { handleKey, usernameKey } = namesOf(record);
  add('channelId', channels.id, record.channelId, channel);
  add('customUrl', channels.handle, handleKey, channel);
  add('username', channels.username, usernameKey, channel);
}

/** Drops a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(line: Buffer): string {
  if (line.length > MAX_LINE_MIB * MIB) throw new RecordRefusedError('', `has more than ${MAX_LINE_MIB} MiB`);
  try {
    return utf8.decode(line);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new RecordRefusedError('', 'not UTF-8');
  }
}

function requireImage(field: string, images: ReadonlySet<string>, fileName: string | null): void {
  if (fileName === null || images.has(fileName)) return;
  throw new RecordRefusedError(field, `there is no regular file images/${fileName} in the folder`);
}

function add(field: string, known: Map<string, OwnChannel>, key: string | null, channel: OwnChannel): void {
  if (key === null) return;
  if (known.has(key)) throw new RecordRefusedError(field, `an earlier line has ${key}, too`);
  known.set(key, channel);
}
