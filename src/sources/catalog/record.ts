import type { Channel, ChannelLink, OriginalRef } from '../../domain/channel.ts';

/**
 * A channel as the catalog keeps it and as one NDJSON line carries it: the fields of the API's record without its URLs,
 * the legacy user name, and the file names of the pictures.
 */
export interface CatalogRecord {
  readonly channelId: string;
  readonly title: string;
  readonly description: string | null;
  readonly customUrl: string | null;
  readonly publishedAt: string | null;
  readonly country: string | null;
  readonly subscriberCount: string | null;
  readonly viewCount: string | null;
  readonly videoCount: string | null;
  readonly links: readonly ChannelLink[] | null;
  readonly username: string | null;
  /** Bare file names, `null`: the channel has no such picture. */
  readonly bannerFile: string | null;
  readonly avatarFile: string | null;
}

/** A record as sources answer it. */
export function channelOf(record: CatalogRecord): Channel {
  const { username: _, bannerFile, avatarFile, ...fields } = record;
  return { ...fields, banner: originalOf(bannerFile), avatar: originalOf(avatarFile) };
}

function originalOf(fileName: string | null): OriginalRef | null {
  if (fileName === null) return null;
  // Picture files are named by their bytes' digest (pictures.ts).
  return { kind: 'catalog-file', key: `catalog:${fileName.slice(0, fileName.lastIndexOf('.'))}`, fileName };
}
