import type { CarriedField } from './noise.ts';
import type { Count, Truth } from './truth.ts';

type Render = (truth: Truth) => unknown;

/** One place of an answer that tells one thing about the channel, written down from recorded answers. */
export interface Carrier {
  readonly field: CarriedField;
  /** The path: members separated by dots, elements of lists by their index. */
  readonly at: string;
  readonly render: Render;
}

/** Carriers that are in the same part of an answer. */
function carriersIn(part: string, rows: readonly (readonly [CarriedField, string, Render])[]): readonly Carrier[] {
  return rows.map(([field, path, render]) => ({ field, at: `${part}.${path}`, render }));
}

const as =
  (member: 'simpleText' | 'content', render: Render): Render =>
  (truth) => ({ [member]: render(truth) });

/** The text in two runs that part at its first blank. */
const inRuns =
  (render: (truth: Truth) => string, parting: RegExp): Render =>
  (truth) => {
    const [first = '', ...rest] = render(truth).split(parting);
    return { runs: [{ text: first }, { text: rest.join('') }] };
  };

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

const channelId = (truth: Truth) => truth.channelId;
const title = (truth: Truth) => truth.title;
const description = (truth: Truth) => truth.description;
const customUrl = (truth: Truth) => truth.customUrl;
const joined = (truth: Truth) => truth.joined.text;
const country = (truth: Truth) => truth.country.text;
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

const HEADER = 'content.pageHeaderViewModel';
const ROWS = `${HEADER}.metadata.contentMetadataViewModel.metadataRows`;
const DETAILS = 'page.header.carouselHeaderRenderer.contents.1.topicChannelDetailsRenderer';
const SECTION =
  'page.contents.twoColumnBrowseResultsRenderer.tabs.2.tabRenderer.content.sectionListRenderer.contents.0';
const GATE = `${SECTION}.channelAgeGateRenderer`;
const TAB = `${SECTION}.itemSectionRenderer.contents.0.channelAboutFullMetadataRenderer`;
export const PANEL =
  'about.onResponseReceivedEndpoints.0.appendContinuationItemsAction.continuationItems.0' +
  '.aboutChannelRenderer.metadata.aboutChannelViewModel';

export const METADATA_CARRIERS = carriersIn('page.metadata.channelMetadataRenderer', [
  ['channelId', 'externalId', channelId],
  ['title', 'title', title],
  ['description', 'description', description],
  ['customUrl', 'vanityChannelUrl', handleUrl],
  ['avatar', 'avatar.thumbnails', square],
]);

const PERSON = 'channelProfileMicroformatDetails.profilePage.mainEntity';

export const MICROFORMAT_CARRIERS = carriersIn('page.microformat.microformatDataRenderer', [
  ['channelId', 'urlCanonical', (truth) => `https://www.youtube.com/channel/${truth.channelId}`],
  ['customUrl', `${PERSON}.alternateName`, customUrl],
  [
    'subscriberCount',
    `${PERSON}.interactionStatistic.0`,
    (truth) => ({ interactionType: { type: 'FollowAction' }, userInteractionCount: truth.subscribers.value }),
  ],
]);

export const PANEL_CARRIERS = carriersIn(PANEL, [
  ['channelId', 'channelId', channelId],
  ['description', 'description', description],
  ['customUrl', 'canonicalChannelUrl', handleUrl],
  ['publishedAt', 'joinedDateText', as('content', joined)],
  ['country', 'country', country],
  ['subscriberCount', 'subscriberCountText', subscribers],
  ['viewCount', 'viewCountText', views],
  ['videoCount', 'videoCountText', videos],
  ['links', 'links', panelLinks],
]);

const TAB_CARRIERS = carriersIn(TAB, [
  ['channelId', 'channelId', channelId],
  ['title', 'title', as('simpleText', title)],
  ['description', 'description', as('simpleText', description)],
  ['publishedAt', 'joinedDateText', inRuns(joined, /(?<= )/)],
  ['country', 'country', as('simpleText', country)],
  ['viewCount', 'viewCountText', as('simpleText', views)],
  ['links', 'primaryLinks', tabLinks],
]);

const C4_CARRIERS = carriersIn('page.header.c4TabbedHeaderRenderer', [
  ['channelId', 'channelId', channelId],
  ['title', 'title', title],
  ['customUrl', 'channelHandleText', (truth) => ({ runs: [{ text: truth.customUrl }] })],
  ['subscriberCount', 'subscriberCountText', as('simpleText', subscribers)],
  ['roundedVideoCount', 'videosCountText', inRuns(roundedVideos, /(?= )/)],
  ['banner', 'banner.thumbnails', strip],
  ['banner', 'tvBanner.thumbnails', picture(banner, 'w320-fcrop64=1,00000000ffffffff')],
  ['banner', 'mobileBanner.thumbnails', picture(banner, 'w320-fcrop64=1,32b75a57cd48a5a8')],
  ['avatar', 'avatar.thumbnails', square],
]);

/** What the page itself may carry in each layout; metadata and microformat stand beside any of them. */
export const LAYOUTS = {
  pageHeader: carriersIn('page.header.pageHeaderRenderer', [
    ['title', 'pageTitle', title],
    ['title', `${HEADER}.title.dynamicTextViewModel.text`, as('content', title)],
    ['customUrl', `${ROWS}.0.metadataParts.1.text`, as('content', customUrl)],
    ['subscriberCount', `${ROWS}.1.metadataParts.0.text`, as('content', subscribers)],
    [
      'subscriberCount',
      `${ROWS}.1.metadataParts.1.accessibilityLabel`,
      ({ subscribers: { value, isOne } }) => `${value} subscriber${isOne ? '' : 's'}`,
    ],
    ['roundedVideoCount', `${ROWS}.1.metadataParts.2.text`, as('content', roundedVideos)],
    ['banner', `${HEADER}.banner.imageBannerViewModel.image.sources`, strip],
    ['avatar', `${HEADER}.image.decoratedAvatarViewModel.avatar.avatarViewModel.image.sources`, square],
  ]),
  c4: C4_CARRIERS,
  c4WithAboutTab: [...C4_CARRIERS, ...TAB_CARRIERS],
  game: carriersIn('page.header.interactiveTabbedHeaderRenderer', [
    ['title', 'title', as('simpleText', title)],
    ['description', 'description', as('simpleText', description)],
    ['banner', 'banner.thumbnails', picture(banner, 'w1060-fcrop64=1,00003239ffffcdc6')],
    ['avatar', 'boxArt.thumbnails', picture(avatar, 's540-w390-h540-c-k')],
  ]),
  carousel: carriersIn(DETAILS, [
    ['title', 'title', as('simpleText', title)],
    ['subscriberCount', 'subtitle', as('simpleText', subscribers)],
    ['avatar', 'avatar.thumbnails', square],
  ]),
  ageGate: carriersIn(GATE, [
    ['title', 'channelTitle', title],
    ['avatar', 'avatar.thumbnails', picture(avatar, 's144-c-k-c0x00ffffff-no-rj')],
  ]),
};

export type LayoutName = keyof typeof LAYOUTS;

/** Parts that may stand for a channel without naming its ID: with a title they are that of the ID asked for. */
export const TITLED_PARTS: readonly string[] = ['page.header.', GATE];
/** Stand for the layout itself where none of its carriers is drawn. */
export const LAYOUT_MARKERS: Partial<Record<LayoutName, string>> = { carousel: DETAILS, ageGate: GATE };
export const TAB_MARKER = TAB;
