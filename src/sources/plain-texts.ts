import { type Channel, plainTitle, type SearchHit } from '../domain/channel.ts';
import type { ChannelSource, LoadedChannel } from './source.ts';

/**
 * The same source, with plain titles (`plainTitle`) and well-formed texts. An empty title becomes the channel's ID, or the host
 * of the link.
 */
export function withPlainTexts(source: ChannelSource): ChannelSource {
  return {
    ...source,
    async resolve(identifier, options) {
      const resolution = await source.resolve(identifier, options);
      return resolution.loaded === undefined ? resolution : { ...resolution, loaded: plainLoaded(resolution.loaded) };
    },
    getChannel: async (channelId, options) => plainLoaded(await source.getChannel(channelId, options)),
    search: async (query, options) => (await source.search(query, options)).map(plainTexts),
  };
}

function plainLoaded(loaded: LoadedChannel): LoadedChannel {
  const channel: Channel = plainTexts(loaded.channel);
  const links = channel.links?.map(({ title, url }) => ({
    title: plainTitle(title) || (URL.parse(url)?.hostname ?? url),
    url,
  }));
  return { ...loaded, channel: { ...channel, links: links ?? null } };
}

/** The other fields have only characters that their readers accept. */
function plainTexts<T extends Channel | SearchHit>(channel: T): T {
  const title = plainTitle(channel.title) || channel.channelId;
  return { ...channel, title, description: channel.description?.toWellFormed() ?? null };
}
