import type { Count, Truth } from './truth.ts';

/** One place of an answer that tells one thing about the channel, written down from recorded answers. */
export interface Carrier {
  readonly field: CarriedField;
  /** Where: members by dots, elements of lists by their index. */
  readonly at: string;
  render(truth: Truth): unknown;
}

export type CarriedField =
  | 'channelId'
  | 'title'
  | 'description'
  | 'customUrl'
  | 'publishedAt'
  | 'country'
  | 'subscriberCount'
  | 'viewCount'
  | 'videoCount'
  | 'roundedVideoCount'
  | 'links'
  | 'banner'
  | 'avatar';

type Render = (truth: Truth) => unknown;

const simpleText =
  (render: (truth: Truth) => string): Render =>
  (truth) => ({ simpleText: render(truth) });
const content =
  (render: (truth: Truth) => string): Render =>
  (truth) => ({ content: render(truth) });

function counted({ text, isOne }: Count, noun: string): string {
  return `${text} ${noun}${isOne ? '' : 's'}`;
}

const subscribers = (truth: Truth) => counted(truth.subscribers, 'subscriber');
const views = (truth: Truth) => counted(truth.views, 'view');
const videos = (truth: Truth) => counted(truth.videos, 'video');
const roundedVideos = (truth: Truth) => counted(truth.roundedVideos, 'video');
const handleUrl = (truth: Truth) => `http://www.youtube.com/@${encodeURIComponent(truth.customUrl.slice(1))}`;

const picture =
  (base: (truth: Truth) => string, ...options: string[]): Render =>
  (truth) =>
    options.map((option) => ({ url: `${base(truth)}=${option}`, width: 1, height: 1 }));

const banner = (truth: Truth) => truth.bannerBase;
const avatar = (truth: Truth) => truth.avatarBase;
const strip = picture(banner, 'w1060-fcrop64=1,00005a57ffffa5a8-k-c0xffffffff-no-nd-rj', 'w2560');
const square = picture(avatar, 's72-c-k-c0x00ffffff-no-rj', 's900-c-k-c0x00ffffff-no-rj');

function target({ url, isWrapped }: Truth['links'][number]): string {
  if (!isWrapped) return url;
  return `https://www.youtube.com/redirect?event=channel_description&redir_token=x&q=${encodeURIComponent(url)}`;
}

const panelLinks: Render = ({ links }) =>
  links.map((link) => ({
    channelExternalLinkViewModel: {
      title: { content: `${link.title} ` },
      link: {
        content: 'shown.example/…',
        commandRuns: [{ onTap: { innertubeCommand: { urlEndpoint: { url: target(link) } } } }],
      },
    },
  }));

const tabLinks: Render = ({ links }) =>
  links.map((link) => ({
    title: { simpleText: link.title },
    navigationEndpoint: { urlEndpoint: { url: target(link) } },
  }));

const METADATA = 'page.metadata.channelMetadataRenderer';
const HEADER = 'page.header.pageHeaderRenderer.content.pageHeaderViewModel';
const ROWS = `${HEADER}.metadata.contentMetadataViewModel.metadataRows`;
const C4 = 'page.header.c4TabbedHeaderRenderer';
const GAME = 'page.header.interactiveTabbedHeaderRenderer';
const DETAILS = 'page.header.carouselHeaderRenderer.contents.1.topicChannelDetailsRenderer';
const SECTION =
  'page.contents.twoColumnBrowseResultsRenderer.tabs.2.tabRenderer.content.sectionListRenderer.contents.0';
const GATE = `${SECTION}.channelAgeGateRenderer`;
const TAB = `${SECTION}.itemSectionRenderer.contents.0.channelAboutFullMetadataRenderer`;
const MICROFORMAT = 'page.microformat.microformatDataRenderer';
const PERSON = `${MICROFORMAT}.channelProfileMicroformatDetails.profilePage.mainEntity`;
export const PANEL =
  'about.onResponseReceivedEndpoints.0.appendContinuationItemsAction.continuationItems.0' +
  '.aboutChannelRenderer.metadata.aboutChannelViewModel';

export const METADATA_CARRIERS: readonly Carrier[] = [
  { field: 'channelId', at: `${METADATA}.externalId`, render: (truth) => truth.channelId },
  { field: 'title', at: `${METADATA}.title`, render: (truth) => truth.title },
  { field: 'description', at: `${METADATA}.description`, render: (truth) => truth.description },
  { field: 'customUrl', at: `${METADATA}.vanityChannelUrl`, render: handleUrl },
  { field: 'avatar', at: `${METADATA}.avatar.thumbnails`, render: square },
];

export const MICROFORMAT_CARRIERS: readonly Carrier[] = [
  {
    field: 'channelId',
    at: `${MICROFORMAT}.urlCanonical`,
    render: (truth) => `https://www.youtube.com/channel/${truth.channelId}`,
  },
  { field: 'customUrl', at: `${PERSON}.alternateName`, render: (truth) => truth.customUrl },
  {
    field: 'subscriberCount',
    at: `${PERSON}.interactionStatistic.0`,
    render: (truth) => ({
      interactionType: { type: 'FollowAction' },
      userInteractionCount: truth.subscribers.value,
    }),
  },
];

export const PANEL_CARRIERS: readonly Carrier[] = [
  { field: 'channelId', at: `${PANEL}.channelId`, render: (truth) => truth.channelId },
  { field: 'description', at: `${PANEL}.description`, render: (truth) => truth.description },
  { field: 'customUrl', at: `${PANEL}.canonicalChannelUrl`, render: handleUrl },
  { field: 'publishedAt', at: `${PANEL}.joinedDateText`, render: content((truth) => truth.joined.text) },
  { field: 'country', at: `${PANEL}.country`, render: (truth) => truth.country.text },
  { field: 'subscriberCount', at: `${PANEL}.subscriberCountText`, render: subscribers },
  { field: 'viewCount', at: `${PANEL}.viewCountText`, render: views },
  { field: 'videoCount', at: `${PANEL}.videoCountText`, render: videos },
  { field: 'links', at: `${PANEL}.links`, render: panelLinks },
];

const TAB_CARRIERS: readonly Carrier[] = [
  { field: 'channelId', at: `${TAB}.channelId`, render: (truth) => truth.channelId },
  { field: 'title', at: `${TAB}.title`, render: simpleText((truth) => truth.title) },
  { field: 'description', at: `${TAB}.description`, render: simpleText((truth) => truth.description) },
  {
    field: 'publishedAt',
    at: `${TAB}.joinedDateText`,
    render: (truth) => ({ runs: [{ text: 'Joined ' }, { text: truth.joined.text.slice('Joined '.length) }] }),
  },
  { field: 'country', at: `${TAB}.country`, render: simpleText((truth) => truth.country.text) },
  { field: 'viewCount', at: `${TAB}.viewCountText`, render: simpleText(views) },
  { field: 'links', at: `${TAB}.primaryLinks`, render: tabLinks },
];

const C4_CARRIERS: readonly Carrier[] = [
  { field: 'channelId', at: `${C4}.channelId`, render: (truth) => truth.channelId },
  { field: 'title', at: `${C4}.title`, render: (truth) => truth.title },
  { field: 'customUrl', at: `${C4}.channelHandleText`, render: (truth) => ({ runs: [{ text: truth.customUrl }] }) },
  { field: 'subscriberCount', at: `${C4}.subscriberCountText`, render: simpleText(subscribers) },
  {
    field: 'roundedVideoCount',
    at: `${C4}.videosCountText`,
    render: (truth) => {
      const [number = '', noun = ''] = roundedVideos(truth).split(' ');
      return { runs: [{ text: number }, { text: ` ${noun}` }] };
    },
  },
  { field: 'banner', at: `${C4}.banner.thumbnails`, render: strip },
  { field: 'banner', at: `${C4}.tvBanner.thumbnails`, render: picture(banner, 'w320-fcrop64=1,00000000ffffffff') },
  { field: 'banner', at: `${C4}.mobileBanner.thumbnails`, render: picture(banner, 'w320-fcrop64=1,32b75a57cd48a5a8') },
  { field: 'avatar', at: `${C4}.avatar.thumbnails`, render: square },
];

/** What the page itself may carry in each layout; metadata and microformat stand beside any of them. */
export const LAYOUTS = {
  pageHeader: [
    { field: 'title', at: `${HEADER}.title.dynamicTextViewModel.text`, render: content((truth) => truth.title) },
    { field: 'title', at: 'page.header.pageHeaderRenderer.pageTitle', render: (truth) => truth.title },
    { field: 'customUrl', at: `${ROWS}.0.metadataParts.1.text`, render: content((truth) => truth.customUrl) },
    { field: 'subscriberCount', at: `${ROWS}.1.metadataParts.0.text`, render: content(subscribers) },
    {
      field: 'subscriberCount',
      at: `${ROWS}.1.metadataParts.1.accessibilityLabel`,
      render: ({ subscribers: { value, isOne } }) => `${value} subscriber${isOne ? '' : 's'}`,
    },
    { field: 'roundedVideoCount', at: `${ROWS}.1.metadataParts.2.text`, render: content(roundedVideos) },
    { field: 'banner', at: `${HEADER}.banner.imageBannerViewModel.image.sources`, render: strip },
    {
      field: 'avatar',
      at: `${HEADER}.image.decoratedAvatarViewModel.avatar.avatarViewModel.image.sources`,
      render: square,
    },
  ],
  c4: C4_CARRIERS,
  c4WithAboutTab: [...C4_CARRIERS, ...TAB_CARRIERS],
  game: [
    { field: 'title', at: `${GAME}.title`, render: simpleText((truth) => truth.title) },
    { field: 'description', at: `${GAME}.description`, render: simpleText((truth) => truth.description) },
    { field: 'banner', at: `${GAME}.banner.thumbnails`, render: picture(banner, 'w1060-fcrop64=1,00003239ffffcdc6') },
    { field: 'avatar', at: `${GAME}.boxArt.thumbnails`, render: picture(avatar, 's540-w390-h540-c-k') },
  ],
  carousel: [
    { field: 'title', at: `${DETAILS}.title`, render: simpleText((truth) => truth.title) },
    { field: 'subscriberCount', at: `${DETAILS}.subtitle`, render: simpleText(subscribers) },
    { field: 'avatar', at: `${DETAILS}.avatar.thumbnails`, render: square },
  ],
  ageGate: [
    { field: 'title', at: `${GATE}.channelTitle`, render: (truth) => truth.title },
    { field: 'avatar', at: `${GATE}.avatar.thumbnails`, render: picture(avatar, 's144-c-k-c0x00ffffff-no-rj') },
  ],
} satisfies Record<string, readonly Carrier[]>;

export type LayoutName = keyof typeof LAYOUTS;

/** Parts that may stand for a channel without naming its ID: with a title they are that of the ID asked for. */
export const TITLED_PARTS: readonly string[] = ['page.header.', GATE];
/** Stand for the layout itself where none of its carriers is drawn. */
export const LAYOUT_MARKERS: Partial<Record<LayoutName, string>> = { carousel: DETAILS, ageGate: GATE };
export const TAB_MARKER = TAB;
