import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type CatalogImage, type Channel, hitOf, type SearchHit } from '../../domain/channel.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { isSystemError } from '../../lib/file-system.ts';
import { type CatalogRecords, CatalogUnusableError, channelFileOf, readChannelFile } from './channel-file.ts';
import { findImage, readImage } from './image-files.ts';
import type { CatalogRecord } from './record.ts';
import { createTextIndex, type TextIndex } from './text-index.ts';

/** The sample catalog of the project. */
export const SHIPPED_SAMPLES_DIR = fileURLToPath(new URL('../../../samples', import.meta.url));

/** Between two looks at the file. */
const LOOK_INTERVAL_MS = 1_000;
const FIRST_SAMPLE = 'UCPennantSample00000001A';

interface CatalogOptions {
  /** The folder of `channels.ndjson` and `images/`. */
  readonly folder: string;
  readonly clock?: Clock;
  /** Called after the channels have changed. */
  readonly onChange?: () => void;
  /** Called with a sentence for the operator when the file cannot be used, and with `null` when it can be used again. */
  readonly onStateChange?: (problem: string | null) => void;
}

/**
 * The operator's own channels: the files of a folder, in memory. A file of channels that changes is read again. While it cannot be
 * used, the channels that were read last are served.
 */
export interface Catalog {
  /** The channel; `undefined` if the catalog does not have it. */
  find(ref: ChannelRef): Promise<Channel | undefined>;
  /** Channels that match, best first, at most `limit`. */
  search(query: string, limit: number): Promise<readonly SearchHit[]>;
  /** Some channels as examples: the first sample, which has all fields, then the first of the file. */
  examples(count: number): Promise<readonly Channel[]>;
  /** The bytes of an image. @throws AppError `image_not_found`, `upstream_unavailable` */
  readImage(image: CatalogImage): Promise<Buffer>;
  /** Ends the looking for changes. */
  close(): void;
}

interface Contents {
  readonly records: CatalogRecords;
  readonly search: TextIndex;
}

/** @throws CatalogUnusableError if the file cannot be read or a line has a mistake */
export async function openCatalog({
  folder,
  clock = systemClock,
  onChange = () => {},
  onStateChange = () => {},
}: CatalogOptions): Promise<Catalog> {
  const file = channelFileOf(folder);
  let seen: string | undefined = await stateOf(file);
  let contents = await readContents(folder);
  let problem: string | null = null;
  let isClosed = false;

  async function readChanges(): Promise<void> {
    const state = await stateOf(file);
    if (state === seen) return;
    seen = state;
    try {
      contents = await readContents(folder);
      onChange();
      report(null);
    } catch (error) {
      if (!(error instanceof CatalogUnusableError)) throw error;
      // After an error of the disk (which has a cause), the file is read again; after a mistake in a line, when the file changes.
      if (error.cause !== undefined) seen = undefined;
      report(error.message);
    }
  }

  function report(now: string | null): void {
    if (now !== problem) onStateChange(now);
    problem = now;
  }

  async function look(): Promise<void> {
    await readChanges();
    if (!isClosed) cancelLook = clock.after(LOOK_INTERVAL_MS, () => void look());
  }
  let cancelLook = clock.after(LOOK_INTERVAL_MS, () => void look());

  async function channelOf(record: CatalogRecord): Promise<Channel> {
    const { username: _, bannerFile, avatarFile, ...fields } = record;
    const [banner, avatar] = await Promise.all([findImage(folder, bannerFile), findImage(folder, avatarFile)]);
    return { ...fields, banner, avatar };
  }

  return {
    async find({ kind, key }) {
      const record = kind === 'custom' ? undefined : contents.records[kind].get(key);
      return record && channelOf(record);
    },

    async search(query, limit) {
      const { records, search } = contents;
      const found = search(query, limit).flatMap((id) => records.id.get(id) ?? []);
      return Promise.all(found.map(async (record) => hitOf(await channelOf(record))));
    },

    async examples(count) {
      const { id: byId } = contents.records;
      const first = byId.get(FIRST_SAMPLE);
      const chosen = new Set([...(first === undefined ? [] : [first]), ...byId.values().take(count)]);
      return Promise.all([...chosen].slice(0, count).map(channelOf));
    },

    readImage: (image) => readImage(folder, image),

    close() {
      isClosed = true;
      cancelLook();
    },
  };
}

/** Changes with the file. */
async function stateOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return `${ino}:${size}:${mtimeMs}`;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.message;
  }
}

async function readContents(folder: string): Promise<Contents> {
  const records = await readChannelFile(folder);
  return { records, search: await createTextIndex(records.id.values()) };
}
