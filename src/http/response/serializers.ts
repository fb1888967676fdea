import type { Channel, SearchHit } from '../../domain/channel.ts';
import { pictureUrl, pictureUrls, type UrlForm } from './urls.ts';

/** The channel record as clients see it: 13 fields in this order, always all of them. */
export function recordOf(channel: Channel, base: string, form: UrlForm): object {
  const urls = pictureUrls(base, form, channel.channelId, {
    banner: channel.banner !== null,
    avatar: channel.avatar !== null,
  });
  return {
    channelId: channel.channelId,
    title: channel.title,
    description: channel.description,
    customUrl: channel.customUrl,
    publishedAt: channel.publishedAt,
    country: channel.country,
    subscriberCount: channel.subscriberCount,
    viewCount: channel.viewCount,
    videoCount: channel.videoCount,
    bannerUrl: urls.default,
    avatarUrl: urls.avatar,
    bannerUrls: urls,
    // The field is an array whatever happens: clients map over it without looking.
    links: channel.links ?? [],
  };
}

/** A search result; a picture's URL is null only where it is known that there is none. */
export function searchResultOf(hit: SearchHit, base: string, form: UrlForm): object {
  return {
    channelId: hit.channelId,
    title: hit.title,
    description: hit.description,
    customUrl: hit.customUrl,
    subscriberCount: hit.subscriberCount,
    videoCount: hit.videoCount,
    bannerUrl: hit.banner === 'absent' ? null : pictureUrl(base, form, hit.channelId, 'default'),
    avatarUrl: hit.avatar === 'absent' ? null : pictureUrl(base, form, hit.channelId, 'avatar'),
  };
}
