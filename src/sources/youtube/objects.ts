import type { Channel } from '../../domain/channel.ts';

export interface ObjectLayout {
  /** What a response says about its channel, and says once: of two objects of one part, one may be another channel's. */
  readonly part: 'metadata' | 'microformat' | 'about' | 'header';
  /** Its names in responses, the newest first. */
  readonly names: readonly string[];
  /**
   * The members that have a field, the newest first: paths of names, in which `*` means every element of a list. The first
   * value that can be read is taken.
   */
  readonly members: { readonly [Field in keyof Channel]?: readonly string[] };
  /** The path of texts among which may be the handle and counts. Pronouns and other texts are there too. */
  readonly texts?: string;
  /** True if it is in a page's `contents`, where all other objects show other channels. */
  readonly isContent?: boolean;
}

/**
 * The objects that have the fields of a channel, as they were seen until 2026-11. YouTube names its objects by what they are and
 * moves them in its experiments, so they are found by their names, wherever they are. The first object in this order that has a
 * field is used. `docs/youtube.md` says how to add a name or a member, and how exact a field is.
 */
export const OBJECTS = {
  metadata: {
    part: 'metadata',
    names: ['channelMetadataRenderer'],
    members: {
      channelId: ['externalId'],
      title: ['title'],
      description: ['description'],
      customUrl: ['vanityChannelUrl'],
      avatar: ['avatar.thumbnails.*.url'],
    },
  },
  /** Its title, description and image are changed copies. */
  microformat: {
    part: 'microformat',
    names: ['microformatDataRenderer'],
    members: { channelId: ['urlCanonical'] },
  },
  /** It is in the response to an About token since 2023-11, and in the HTML page of a channel (2026-09). */
  aboutPanel: {
    part: 'about',
    names: ['aboutChannelViewModel'],
    members: {
      channelId: ['channelId'],
      description: ['description'],
      customUrl: ['canonicalChannelUrl'],
      publishedAt: ['joinedDateText'],
      country: ['country'],
      subscriberCount: ['subscriberCountText'],
      viewCount: ['viewCountText'],
      videoCount: ['videoCountText'],
      links: ['links'],
    },
  },
  /** Channels had it before the panel. Games' "Topic" channels kept it (seen 2026-07). */
  aboutTab: {
    part: 'about',
    names: ['channelAboutFullMetadataRenderer'],
    isContent: true,
    members: {
      channelId: ['channelId'],
      title: ['title'],
      description: ['description'],
      publishedAt: ['joinedDateText'],
      country: ['country'],
      viewCount: ['viewCountText'],
      links: ['primaryLinks'],
    },
  },
  /** Pages have it since 2024-04. */
  pageHeader: {
    part: 'header',
    names: ['pageHeaderViewModel'],
    texts: 'metadata.contentMetadataViewModel.metadataRows.*.metadataParts.*.text',
    members: {
      title: ['title.dynamicTextViewModel.text'],
      // Channels without a banner lack it.
      banner: ['banner.imageBannerViewModel.image.sources.*.url'],
      avatar: [
        'image.decoratedAvatarViewModel.avatar.avatarViewModel.image.sources.*.url',
        // System channels. The file may be an animation.
        'animatedImage.contentPreviewImageViewModel.image.sources.*.url',
        'image.contentPreviewImageViewModel.image.sources.*.url',
      ],
    },
  },
  /** Pages had it until mid-2024. */
  c4Header: {
    part: 'header',
    names: ['c4TabbedHeaderRenderer'],
    members: {
      channelId: ['channelId'],
      subscriberCount: ['subscriberCountText'],
      videoCount: ['videosCountText'],
      banner: ['banner.thumbnails.*.url'],
    },
  },
  /** Games' "Topic" channels have it. */
  gameHeader: {
    part: 'header',
    names: ['interactiveTabbedHeaderRenderer'],
    members: {
      title: ['title'],
      description: ['description'],
      banner: ['banner.thumbnails.*.url'],
      avatar: ['boxArt.thumbnails.*.url'],
    },
  },
  /** System channels have it (Music, Sports, events). */
  carouselHeader: {
    part: 'header',
    names: ['topicChannelDetailsRenderer'],
    texts: 'subtitle',
    members: { title: ['title'], avatar: ['avatar.thumbnails.*.url'] },
  },
  /** It takes the place of everything else. */
  ageGate: {
    part: 'header',
    names: ['channelAgeGateRenderer'],
    isContent: true,
    members: { title: ['channelTitle'], avatar: ['avatar.thumbnails.*.url'] },
  },
} as const satisfies Record<string, ObjectLayout>;

export type ObjectName = keyof typeof OBJECTS;

export const OBJECT_NAMES = Object.keys(OBJECTS) as ObjectName[];

export function layoutOf(object: ObjectName): ObjectLayout {
  return OBJECTS[object];
}
