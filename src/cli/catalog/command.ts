import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FetchedChannel } from '../../app/fetch-channel.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { type CatalogReader, openForReading } from '../../sources/catalog/reader.ts';
import { catalogPaths } from '../../sources/catalog/schema.ts';
import type { SubCommand } from '../command-group.ts';
import type { Output, onStopSignal } from '../command-line.ts';

export interface CatalogContext extends Output {
  /** The folder of `catalog.db`. */
  readonly dataDir: string;
  readonly stdin: Readable;
  readonly onStopSignal: typeof onStopSignal;
  /**
   * Loads a channel and its pictures from the live sources in `SOURCES` without any cache.
   *
   * @throws AppError
   */
  fetchChannel(refs: readonly ChannelRef[], signal: AbortSignal): Promise<FetchedChannel>;
  /**
   * Removes what the service has cached of a channel in `dataDir`, and returns a sentence that says what it removed.
   *
   * @throws CacheCommandError if something could not be removed
   */
  forget(dataDir: string, channelId: string): Promise<string>;
}

export type { FetchedChannel };

export type CatalogCommand = SubCommand<CatalogContext>;

/** `--images DIR` */
export const IMAGES_OPTION = { images: { type: 'string' } } as const;

/** The folder given with `--images`. */
export function imagesFolder({ images }: { readonly images?: string | boolean | undefined }): string | undefined {
  return typeof images === 'string' ? images : undefined;
}

/** Writes at the speed of the output's reader. Stops quietly when the reader closes the output (`| head`). */
export async function writeLines(stdout: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(withLineEnds(lines)), stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

function* withLineEnds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/**
 * Queries the catalog in `dataDir`; `undefined` if it has no tables yet.
 *
 * @throws CatalogUnusableError also if there is no catalog
 */
export async function withReader<T>(
  dataDir: string,
  work: (reader: CatalogReader) => T | Promise<T>,
): Promise<T | undefined> {
  const catalog = openForReading(catalogPaths(dataDir).database);
  if (catalog === undefined) return undefined;
  try {
    return await work(catalog.reader);
  } finally {
    catalog.close();
  }
}
