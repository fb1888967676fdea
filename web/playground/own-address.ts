import { FORMAT_NAMES } from '../../src/domain/formats.ts';
import type { Identifier } from '../../src/domain/identifier.ts';

/** Paths of the service that name a channel. What is behind the first words is a channel ID, or a path of youtube.com. */
const CHANNEL_PATH =
  /\/(?:api\/(?:channel|banner|badge)\/|youtube\/channel\/[a-z]+\/|(?=@|UC|(?:channel|c|user)\/))(.+)$/;
const EXTENSIONS = ['svg', 'json', ...FORMAT_NAMES];

/**
 * The channel in an address or a path of this instance: an ID, an `@handle` or an address at YouTube.
 *
 * @param base of the public URLs, without a slash at the end
 * @returns `undefined` for any other text, `''` for an address without a channel
 */
export function channelInOwnAddress(text: string, base: string): string | undefined {
  const written = text.trim();
  const address = URL.parse(written.startsWith('/') ? base + written : written.replace(/^(?!https?:)/, 'https://'));
  if (address?.hostname !== new URL(base).hostname) return undefined;
  const shown = address.searchParams.get('channel');
  if (shown !== null) return shown;
  const [, rest = ''] = CHANNEL_PATH.exec(address.pathname) ?? [];
  const [, channelId] = /^(UC[\w-]{22})(?![\w-])/.exec(rest) ?? [];
  if (channelId !== undefined || rest === '') return channelId ?? '';
  const extension = EXTENSIONS.find((candidate) => rest.endsWith(`.${candidate}`));
  const name = extension === undefined ? rest : rest.slice(0, -extension.length - 1);
  const type = address.searchParams.get('type');
  if (type === 'handle') return `@${name}`;
  return `youtube.com/${type === 'username' ? 'user/' : ''}${name}`;
}

/** The path of the record of the channel. */
export function recordPath({ kind, value }: Identifier): string {
  const segment = encodeURIComponent(value);
  if (kind === 'custom') return `/c/${segment}`;
  return kind === 'id' ? `/api/channel/${segment}` : `/api/channel/${segment}?type=${kind}`;
}
