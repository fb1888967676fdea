import type { SQLOutputValue } from 'node:sqlite';
import type { ChannelLink } from '../../domain/channel.ts';
import { findHandle, findUsername } from '../../domain/identifier.ts';
import type { CatalogRecord } from './record.ts';
import { foldText } from './search-text.ts';

/** The columns that make up a record: what every statement that reads records selects. */
export const RECORD_COLUMNS = `channel_id, title, description, custom_url, published_at, country,
  subscriber_count, view_count, video_count, links, username, banner_file, avatar_file`;

export type Row = Record<string, SQLOutputValue>;

export function recordOf(row: Row): CatalogRecord {
  return {
    channelId: text(row.channel_id) ?? '',
    title: text(row.title) ?? '',
    description: text(row.description),
    customUrl: text(row.custom_url),
    publishedAt: text(row.published_at),
    country: text(row.country),
    subscriberCount: text(row.subscriber_count),
    viewCount: text(row.view_count),
    videoCount: text(row.video_count),
    links: typeof row.links === 'string' ? linksOf(row.links) : null,
    username: text(row.username),
    bannerFile: text(row.banner_file),
    avatarFile: text(row.avatar_file),
  };
}

/** Links of former versions are as they were imported, not as browsers write them. */
function linksOf(json: string): ChannelLink[] {
  const links = JSON.parse(json) as readonly ChannelLink[];
  return links.map(({ title, url }) => ({ title, url: URL.parse(url)?.href ?? url }));
}

function text(value: SQLOutputValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** What a record is found by, beside its ID. */
export interface RecordKeys {
  readonly titleKey: string;
  readonly handleKey: string | null;
  readonly handleSearchKey: string | null;
  readonly usernameKey: string | null;
}

export function keysOf({ title, customUrl, username }: CatalogRecord): RecordKeys {
  const handleKey = (customUrl === null ? undefined : findHandle(customUrl)?.key) ?? null;
  return {
    titleKey: foldText(title),
    handleKey,
    handleSearchKey: handleKey === null ? null : foldText(handleKey),
    usernameKey: (username === null ? undefined : findUsername(username)?.key) ?? null,
  };
}
