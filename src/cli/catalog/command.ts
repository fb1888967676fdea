import type { SubCommand } from '../command-group.ts';
import type { Output } from '../command-line.ts';
import type { onStopSignal } from '../stop-signals.ts';

export interface CatalogContext extends Output {
  /** Where `catalog.db` is. */
  readonly dataDir: string;
  readonly onStopSignal: typeof onStopSignal;
  /**
   * Removes what the service has stored of a channel in `dataDir`, and answers what that was, as a sentence.
   *
   * @throws CacheCommandError when not all of it could be removed
   */
  forget(dataDir: string, channelId: string): Promise<string>;
}

export type CatalogCommand = SubCommand<CatalogContext>;

/** `--images DIR` */
export const IMAGES_OPTION = { images: { type: 'string' } } as const;

/** The folder given with `--images`. */
export function imagesFolder({ images }: { readonly images?: string | boolean | undefined }): string | undefined {
  return typeof images === 'string' ? images : undefined;
}
