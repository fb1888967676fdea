import type { Channel } from '../../domain/channel.ts';

export const METADATA = 'page.metadata.channelMetadataRenderer';
/** Since 2024-04. */
export const PAGE_HEADER = 'page.header.pageHeaderRenderer.content.pageHeaderViewModel';
/** Channels without a banner lack it. */
export const BANNER = `${PAGE_HEADER}.banner`;
/** Handle, pronouns and counts move between rows, so parts are recognized by their text and not by their position. */
const HEADER_PARTS = `${PAGE_HEADER}.metadata.contentMetadataViewModel.metadataRows.*.metadataParts.*`;
/** Until mid-2024. Everything else on such pages is in their metadata and their About tab. */
export const C4_HEADER = 'page.header.c4TabbedHeaderRenderer';
/** Games' "Topic" channels. */
export const INTERACTIVE_HEADER = 'page.header.interactiveTabbedHeaderRenderer';
/** System channels (Music, Sports, events). */
export const CAROUSEL_DETAILS = 'page.header.carouselHeaderRenderer.contents.*.topicChannelDetailsRenderer';
const SELECTED_SECTIONS =
  'page.contents.twoColumnBrowseResultsRenderer.tabs.*.tabRenderer.content.sectionListRenderer.contents.*';
export const AGE_GATE = `${SELECTED_SECTIONS}.channelAgeGateRenderer`;
/** Only the URL is read: title, description and image in this part are changed copies. */
export const MICROFORMAT = 'page.microformat.microformatDataRenderer';
/** The panel that the About continuation returns, since 2023-11. */
export const ABOUT_PANEL =
  'about.onResponseReceivedEndpoints.*.appendContinuationItemsAction.continuationItems.*' +
  '.aboutChannelRenderer.metadata.aboutChannelViewModel';
/** The panel in the HTML page of a channel (2026-09). */
export const HTML_PANEL =
  'page.onResponseReceivedEndpoints.*.showEngagementPanelEndpoint.engagementPanel.engagementPanelSectionListRenderer' +
  '.content.sectionListRenderer.contents.*.itemSectionRenderer.contents.*' +
  '.aboutChannelRenderer.metadata.aboutChannelViewModel';
/** The tab that the panel replaced. */
export const ABOUT_TAB = `${SELECTED_SECTIONS}.itemSectionRenderer.contents.*.channelAboutFullMetadataRenderer`;

/** The interface language. */
export const LANGUAGE =
  'page.topbar.desktopTopbarRenderer.searchbox.fusionSearchboxRenderer.config.webSearchboxConfig.requestLanguage';

/**
 * The paths that may carry each field, best first, as they were seen until 2026-11. `createFinder` finds their values also
 * if the objects and lists before the last "…Renderer" or "…ViewModel" change. `docs/youtube.md` describes how exact each
 * path is.
 */
export const CHANNEL_LAYOUTS: Readonly<Record<keyof Channel, readonly string[]>> = {
  channelId: [
    `${METADATA}.externalId`,
    `${ABOUT_TAB}.channelId`,
    `${MICROFORMAT}.urlCanonical`,
    `${ABOUT_PANEL}.channelId`,
    `${HTML_PANEL}.channelId`,
  ],
  title: [
    `${METADATA}.title`,
    `${PAGE_HEADER}.title.dynamicTextViewModel.text`,
    `${INTERACTIVE_HEADER}.title`,
    `${CAROUSEL_DETAILS}.title`,
    `${ABOUT_TAB}.title`,
    `${AGE_GATE}.channelTitle`,
  ],
  description: [
    `${METADATA}.description`,
    `${ABOUT_PANEL}.description`,
    `${HTML_PANEL}.description`,
    `${ABOUT_TAB}.description`,
    `${INTERACTIVE_HEADER}.description`,
  ],
  customUrl: [
    `${METADATA}.vanityChannelUrl`,
    `${ABOUT_PANEL}.canonicalChannelUrl`,
    `${HTML_PANEL}.canonicalChannelUrl`,
    `${HEADER_PARTS}.text`,
  ],
  publishedAt: [`${ABOUT_PANEL}.joinedDateText`, `${HTML_PANEL}.joinedDateText`, `${ABOUT_TAB}.joinedDateText`],
  country: [`${ABOUT_PANEL}.country`, `${HTML_PANEL}.country`, `${ABOUT_TAB}.country`],
  subscriberCount: [
    `${ABOUT_PANEL}.subscriberCountText`,
    `${HTML_PANEL}.subscriberCountText`,
    `${HEADER_PARTS}.text`,
    `${C4_HEADER}.subscriberCountText`,
    `${CAROUSEL_DETAILS}.subtitle`,
  ],
  viewCount: [`${ABOUT_PANEL}.viewCountText`, `${HTML_PANEL}.viewCountText`, `${ABOUT_TAB}.viewCountText`],
  videoCount: [
    `${ABOUT_PANEL}.videoCountText`,
    `${HTML_PANEL}.videoCountText`,
    `${HEADER_PARTS}.text`,
    `${C4_HEADER}.videosCountText`,
  ],
  links: [ABOUT_PANEL, HTML_PANEL, ABOUT_TAB],
  banner: [
    `${BANNER}.imageBannerViewModel.image.sources.*.url`,
    `${C4_HEADER}.banner.thumbnails.*.url`,
    `${INTERACTIVE_HEADER}.banner.thumbnails.*.url`,
  ],
  avatar: [
    `${METADATA}.avatar.thumbnails.*.url`,
    `${PAGE_HEADER}.image.decoratedAvatarViewModel.avatar.avatarViewModel.image.sources.*.url`,
    // System channels (Gaming, Live, Learning), in `animatedImage` or `image`. The file may be an animation.
    `${PAGE_HEADER}.animatedImage.contentPreviewImageViewModel.image.sources.*.url`,
    `${INTERACTIVE_HEADER}.boxArt.thumbnails.*.url`,
    `${CAROUSEL_DETAILS}.avatar.thumbnails.*.url`,
    `${AGE_GATE}.avatar.thumbnails.*.url`,
  ],
};

export const CHANNEL_FIELDS = Object.keys(CHANNEL_LAYOUTS) as (keyof Channel)[];

/** The items that lead to the next page of a list. */
export const CONTINUATION_ITEMS = ['continuationItemViewModel', 'continuationItemRenderer'];

/** Where such an item has the token, newest form first. */
export const TOKEN_PATHS = [
  // Since 2026-06, with and without the wrapping.
  'continuationCommand.innertubeCommand.continuationCommand.token',
  'continuationCommand.continuationCommand.token',
  'continuationCommand.token',
  'continuationEndpoint.continuationCommand.token',
  // "Show more" buttons.
  'button.buttonRenderer.command.continuationCommand.token',
];
