import { type Channel, plainTitle, type SearchHit } from '../domain/channel.ts';
import type { ChannelSource, LoadedChannel } from './source.ts';

/**
 * The same source, with plain titles (`plainTitle`). An empty one becomes the channel's ID, or the host of the link.
 */
export function withPlainTitles(source: ChannelSource): ChannelSource {
  return {
    ...source,
    async resolve(ref, options) {
      const resolution = await source.resolve(ref, options);
      return resolution.loaded === undefined
        ? resolution
        : { ...resolution, loaded: withPlainRecord(resolution.loaded) };
    },
    getChannel: async (channelId, options) => withPlainRecord(await source.getChannel(channelId, options)),
    search: async (query, limit, options) => (await source.search(query, limit, options)).map(withPlainTitle),
  };
}

function withPlainRecord(loaded: LoadedChannel): LoadedChannel {
  const channel: Channel = withPlainTitle(loaded.channel);
  const links = channel.links?.map(({ title, url }) => ({
    title: plainTitle(title) || (URL.parse(url)?.hostname ?? url),
    url,
  }));
  return { ...loaded, channel: { ...channel, links: links ?? null } };
}

function withPlainTitle<T extends Channel | SearchHit>(channel: T): T {
  return { ...channel, title: plainTitle(channel.title) || channel.channelId };
}
