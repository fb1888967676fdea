const CHANNEL_ID = /UC[A-Za-z0-9_-]{22}/g;

/**
 * Whether a key or a stored value names one of the channels. All that a channel ID stands in here ends it: quotes, a
 * colon, a slash.
 */
export function mentionsChannel(text: string, channelIds: ReadonlySet<string>): boolean {
  for (const [channelId] of text.matchAll(CHANNEL_ID)) if (channelIds.has(channelId)) return true;
  return false;
}
