import { CHANNEL_LAYOUTS, LANGUAGE } from './layouts.ts';

/** Names on the way to what is read beside the fields of a record: texts, links, alerts, redirects, the About token. */
const OTHER_NAMES = [
  ...['simpleText', 'content', 'runs', 'text'],
  ...['links', 'primaryLinks', 'channelExternalLinkViewModel', 'title', 'link', 'commandRuns', 'onTap'],
  ...['innertubeCommand', 'navigationEndpoint', 'urlEndpoint', 'url', 'endpoint', 'browseEndpoint', 'browseId'],
  ...['canonicalBaseUrl', 'alerts', 'alertRenderer', 'type', 'onResponseReceivedActions', 'navigateAction'],
  ...['interactionType', 'userInteractionCount', 'error', 'code', 'status'],
  ...['description', 'descriptionPreviewViewModel', 'attribution', 'attributionViewModel', 'suffix'],
  ...['rendererContext', 'commandContext', 'showEngagementPanelEndpoint', 'engagementPanel'],
  ...['engagementPanelSectionListRenderer', 'sectionListRenderer', 'contents', 'itemSectionRenderer'],
  ...['continuationItemRenderer', 'continuationItemViewModel', 'continuationEndpoint', 'continuationCommand'],
  ...['button', 'buttonRenderer', 'command', 'token'],
];

/** Every name of a member that this source reads, or passes on the way to one. */
export const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...[LANGUAGE, ...Object.values(CHANNEL_LAYOUTS).flat()].flatMap((path) => path.split('.')),
  ...OTHER_NAMES,
]);

/** Names that stand beside those and are never read (recordings of 2021 to 2026-08): no sign of a change. */
export const UNREAD_NAMES: ReadonlySet<string> = new Set([
  ...['responseContext', 'trackingParams', 'clickTrackingParams', 'targetId', 'width', 'height', 'style'],
  ...['channelUrl', 'ownerUrls', 'rssUrl', 'keywords', 'isFamilySafe', 'availableCountryCodes', 'musicArtistName'],
  ...['androidDeepLink', 'androidAppindexingLink', 'iosAppindexingLink', 'facebookProfileId', 'tabPath'],
  ...['doubleclickTrackingUsername', 'channelConversionUrl', 'actions', 'animatedImage', 'artistBio'],
  ...['artistBioLabel', 'descriptionLabel', 'customLinksLabel', 'additionalInfoLabel', 'customUrlOnTap'],
  ...['signInForBusinessEmail', 'displayCanonicalChannelUrl'],
]);
