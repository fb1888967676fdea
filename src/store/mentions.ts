const CHANNEL_ID = /UC[A-Za-z0-9_-]{22}/g;

/**
 * The channels that a key or a stored text names. All that a channel ID stands in here ends it: quotes, a colon, a slash.
 */
export function channelIdsIn(text: string): string[] {
  return text.match(CHANNEL_ID) ?? [];
}
