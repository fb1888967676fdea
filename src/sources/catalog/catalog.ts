import { fileURLToPath } from 'node:url';
import { type CatalogImage, type Channel, hitOf, type SearchHit } from '../../domain/channel.ts';
import type { Identifier } from '../../domain/identifier.ts';
import type { Clock } from '../../lib/clock.ts';
import { CatalogUnusableError, channelFileOf, readChannelFile } from './channel-file.ts';
import { findImage, imagesDirOf, readImage, stateOf } from './files.ts';
import { type OwnChannel, searchChannels } from './search.ts';

/** The sample catalog of the project. */
export const SHIPPED_SAMPLES_DIR = fileURLToPath(new URL('../../../samples', import.meta.url));

/** The folder is looked at that often. */
const LOOK_INTERVAL_MS = 1_000;

interface CatalogOptions {
  /** The folder of `channels.ndjson` and `images/`. */
  readonly folder: string;
  readonly clock: Clock;
  /** Called after the channels have changed. */
  readonly onChange: () => void;
  /** Called after each reading: with a sentence for the operator if the folder cannot be used, otherwise with `null`. */
  readonly onStateChange: (problem: string | null) => void;
}

export type Catalog = Awaited<ReturnType<typeof openCatalog>>;

/**
 * The operator's own channels: the files of a folder, in memory. When the folder changes, its channels are read again. While they
 * cannot be used, the channels that were read last are served.
 *
 * @throws CatalogUnusableError if the file cannot be read or a line has a mistake
 */
export async function openCatalog({ folder, clock, onChange, onStateChange }: CatalogOptions) {
  let seen: string | undefined = await stateOfFolder(folder);
  let channels = await readChannelFile(folder);
  let isClosed = false;

  async function readChanges(): Promise<void> {
    const state = await stateOfFolder(folder);
    if (state === seen) return;
    seen = state;
    try {
      channels = await readChannelFile(folder);
      onChange();
      onStateChange(null);
    } catch (error) {
      if (!(error instanceof CatalogUnusableError)) throw error;
      // After an error of the disk (which has a cause), the file is read again; after a mistake in a line, when the folder changes.
      if (error.cause !== undefined) seen = undefined;
      onStateChange(error.message);
    }
  }

  async function look(): Promise<void> {
    await readChanges();
    if (!isClosed) cancelLook = clock.after(LOOK_INTERVAL_MS, () => void look());
  }
  let cancelLook = clock.after(LOOK_INTERVAL_MS, () => void look());

  async function channelOf({ record }: OwnChannel): Promise<Channel> {
    const { username: _, bannerFile, avatarFile, ...fields } = record;
    const [banner, avatar] = await Promise.all([findImage(folder, bannerFile), findImage(folder, avatarFile)]);
    return { ...fields, banner, avatar };
  }

  return {
    /** The channel; `undefined` if the catalog does not have it. */
    async find({ kind, key }: Identifier): Promise<Channel | undefined> {
      const found = kind === 'custom' ? undefined : channels[kind].get(key);
      return found && channelOf(found);
    },

    /** Channels that match, best first, at most `MAX_HITS`. */
    async search(query: string): Promise<readonly SearchHit[]> {
      const found = searchChannels(channels.id.values(), query);
      return Promise.all(found.map(async (channel) => hitOf(await channelOf(channel))));
    },

    /** The first channels of the file. */
    async examples(count: number): Promise<readonly Channel[]> {
      return Promise.all(channels.id.values().take(count).map(channelOf));
    },

    /** The bytes of an image. @throws AppError `image_not_found`, `upstream_unavailable` */
    readImage: (image: CatalogImage) => readImage(folder, image),

    /** Ends the looking for changes. */
    close(): void {
      isClosed = true;
      cancelLook();
    },
  };
}

/** A text that changes with the file of the channels, and when an image is added, replaced or removed. */
async function stateOfFolder(folder: string): Promise<string> {
  const states = [channelFileOf(folder), imagesDirOf(folder)].map(stateOf);
  return (await Promise.all(states)).join(' ');
}
