import type { SQLOutputValue } from 'node:sqlite';
import {
  type Channel,
  type ChannelLink,
  type OriginalRef,
  pictureVersion,
  type SearchHit,
} from '../../domain/channel.ts';
import { findHandle, findUsername } from '../../domain/identifier.ts';
import { foldText } from './folded-text.ts';

/** A channel in the catalog, and one line of an NDJSON file. */
export interface CatalogRecord extends Omit<Channel, 'banner' | 'avatar'> {
  /** The legacy user name. */
  readonly username: string | null;
  /** File names without a folder; `null`: the channel has no such picture. */
  readonly bannerFile: string | null;
  readonly avatarFile: string | null;
}

/** A record as sources return it. */
export function channelOf(record: CatalogRecord): Channel {
  const { username: _, bannerFile, avatarFile, ...fields } = record;
  return { ...fields, banner: originalOf(bannerFile), avatar: originalOf(avatarFile) };
}

function originalOf(fileName: string | null): OriginalRef | null {
  if (fileName === null) return null;
  // The digest of the picture's bytes names its file (pictures.ts).
  return { kind: 'catalog-file', key: `catalog:${fileName.slice(0, fileName.lastIndexOf('.'))}`, fileName };
}

export function hitOf({ bannerFile, avatarFile, ...record }: CatalogRecord): SearchHit {
  const { channelId, title, description, customUrl, subscriberCount, videoCount } = record;
  return {
    ...{ channelId, title, description, customUrl, subscriberCount, videoCount },
    banner: bannerFile === null ? 'absent' : 'present',
    avatar: avatarFile === null ? 'absent' : 'present',
    bannerVersion: pictureVersion(originalOf(bannerFile)),
    avatarVersion: pictureVersion(originalOf(avatarFile)),
  };
}

/** The columns of a record, named like its fields and in the order of an exported line. */
export const RECORD_COLUMNS = `channel_id AS channelId, title, description, custom_url AS customUrl,
  published_at AS publishedAt, country, subscriber_count AS subscriberCount, view_count AS viewCount,
  video_count AS videoCount, links, username, banner_file AS bannerFile, avatar_file AS avatarFile`;

/** @param row what a statement with `RECORD_COLUMNS` returned; the table is STRICT, so its values are texts or `null` */
export function recordOf(row: Record<string, SQLOutputValue>): CatalogRecord {
  return { ...row, links: typeof row.links === 'string' ? linksOf(row.links) : null } as unknown as CatalogRecord;
}

/** Former versions stored links as they were imported, not in the form that browsers use. */
function linksOf(json: string): ChannelLink[] {
  const links = JSON.parse(json) as readonly ChannelLink[];
  return links.map(({ title, url }) => ({ title, url: URL.parse(url)?.href ?? url }));
}

/** The keys that find a record by its title, handle and user name. */
export function keysOf({ title, customUrl, username }: CatalogRecord) {
  const handleKey = (customUrl === null ? undefined : findHandle(customUrl)?.key) ?? null;
  return {
    titleKey: foldText(title),
    handleKey,
    handleSearchKey: handleKey === null ? null : foldText(handleKey),
    usernameKey: (username === null ? undefined : findUsername(username)?.key) ?? null,
  };
}
