import { FORMAT_NAMES } from '../../src/domain/formats.ts';

/** Paths of the service that name a channel. What is behind the first words is a channel ID, or a path of youtube.com. */
const CHANNEL_PATH =
  /^\/(?:api\/(?:channel|banner|badge)\/|youtube\/channel\/[a-z]+\/|(?=@|UC|(?:channel|c|user)\/))(.+)$/;
const EXTENSIONS = ['svg', 'json', ...FORMAT_NAMES];

/**
 * The channel in an address or a path of this instance: an ID, an `@handle` or an address at YouTube.
 *
 * @param base of the public URLs, without a slash at the end
 * @returns `undefined` for any other text, `''` for an address without a channel
 */
export function channelInOwnAddress(text: string, base: string): string | undefined {
  const written = text.trim();
  const absolute = written.startsWith('/') ? base + written : written.replace(/^(?!https?:)/, 'https://');
  const address = URL.parse(absolute);
  const { hostname, pathname } = new URL(base);
  if (address?.hostname !== hostname) return undefined;
  const shown = address.searchParams.get('channel');
  if (shown !== null) return shown;
  const path = address.pathname.startsWith(`${pathname}/`) ? address.pathname.slice(pathname.length) : address.pathname;
  const [, rest = ''] = CHANNEL_PATH.exec(path) ?? [];
  const [, channelId] = /^(UC[\w-]{22})(?![\w-])/.exec(rest) ?? [];
  if (channelId !== undefined || rest === '') return channelId ?? '';
  const extension = EXTENSIONS.find((candidate) => rest.endsWith(`.${candidate}`));
  const name = extension === undefined ? rest : rest.slice(0, -extension.length - 1);
  const type = address.searchParams.get('type');
  if (type === 'handle') return `@${name}`;
  return `youtube.com/${type === 'username' ? 'user/' : ''}${name}`;
}
