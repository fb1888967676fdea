const DEFAULT_AVATAR = 'https://yt3.googleusercontent.com/a/default-user=s100-c-k-c0x00ffffff-no-rj';
const ANYTHING_ELSE = [null, 7, true, [], {}, { runs: [] }, { runs: [{ text: 7 }] }, { other: 'x' }];
const NO_PICTURES = [
  ...ANYTHING_ELSE,
  [{ url: 7 }],
  [null],
  [{ url: 'http://yt3.ggpht.com/plain=s1' }],
  [{ url: 'data:,' }],
];

/** Values without information that may replace a carrier. */
export const JUNK = {
  channelId: [...ANYTHING_ELSE, '', 'FEwhat_to_watch', 'UCshort'],
  title: [...ANYTHING_ELSE, '', ' '],
  description: ANYTHING_ELSE,
  customUrl: [
    ...ANYTHING_ELSE,
    '',
    'he/him',
    'http://www.youtube.com/c/LegacyName',
    'http://www.youtube.com/channel/UCreplayLighthouse000001',
    'http://www.youtube.com/@%E0%A4%A',
  ],
  publishedAt: [...ANYTHING_ELSE, '', 'Joined', 'Beigetreten: 01.02.2015', 'Joined Feb 30, 2015'],
  country: [...ANYTHING_ELSE, '', 'Deutschland', 'XX'],
  subscriberCount: [
    ...ANYTHING_ELSE,
    '',
    '20 Tr người đăng ký',
    '5,04 Mio. Abonnenten',
    '1.2M',
    { interactionType: { type: 'WatchAction' }, userInteractionCount: '5' },
  ],
  viewCount: [...ANYTHING_ELSE, '', '2.530.935.570 Aufrufe', '1 million'],
  videoCount: [...ANYTHING_ELSE, '', '18.012 Aufnahmen', '7'],
  roundedVideoCount: [...ANYTHING_ELSE, '', '18 Tsd. Aufnahmen', '7'],
  links: [7, true, 'x', { first: 'x' }],
  banner: NO_PICTURES,
  avatar: [...NO_PICTURES, [{ url: DEFAULT_AVATAR }], [{ url: DEFAULT_AVATAR.slice('https:'.length) }]],
} satisfies Readonly<Record<string, readonly unknown[]>>;

export type CarriedField = keyof typeof JUNK;

const SHELF = 'page.contents.twoColumnBrowseResultsRenderer.tabs.3.tabRenderer.content.sectionListRenderer.contents.0';
const MICROFORMAT = 'page.microformat.microformatDataRenderer';
const HEADER = 'page.header.pageHeaderRenderer.content.pageHeaderViewModel';

/** Paths and values of real answers that look like a field and are none. */
const NOISES: Readonly<Record<string, unknown>> = {
  [`${MICROFORMAT}.title`]: 'Somebody - Topic',
  [`${MICROFORMAT}.description`]: 'Cut at 160 characters...',
  'page.metadata.channelMetadataRenderer.availableCountryCodes': ['US', 'GB'],
  [`${SHELF}.shelfRenderer.subscriberCountText`]: { simpleText: '99M subscribers' },
  [`${SHELF}.shelfRenderer.avatar`]: { thumbnails: [{ url: 'https://yt3.ggpht.com/shelf=s1' }] },
  [`${MICROFORMAT}.channelProfileMicroformatDetails.profilePage.mainEntity.interactionStatistic.1`]: {
    interactionType: { type: 'LikeAction' },
    userInteractionCount: '3',
  },
  'about.onResponseReceivedEndpoints.0.appendContinuationItemsAction.continuationItems.0.aboutChannelRenderer.artistBio':
    { content: 'Of somebody else.' },
  'page.trackingParams': 'x',
  [`${HEADER}.description.descriptionPreviewViewModel.description`]: { content: 'More about this channel ' },
  [`${HEADER}.metadata.contentMetadataViewModel.metadataRows.0.metadataParts.2.text`]: { content: 'he/him' },
};

export const NOISE: readonly string[] = Object.keys(NOISES);

export function addNoise(answers: object, path: string, layout: string): void {
  // Elsewhere it would make a header of its own.
  if (path.startsWith(HEADER) && layout !== 'pageHeader') return;
  put(answers, path, NOISES[path]);
}

/** Sets a value at a dotted path; a step of digits makes a list. Leaves what is no object or list as it is. */
export function put(root: object, path: string, value: unknown): void {
  const steps = path.split('.');
  let node = root as Record<string, unknown>;
  for (const [index, step] of steps.entries()) {
    if (index === steps.length - 1) {
      node[step] = value;
      return;
    }
    node[step] ??= /^\d+$/.test(steps[index + 1] ?? '') ? [] : {};
    if (typeof node[step] !== 'object') return;
    node = node[step] as Record<string, unknown>;
  }
}
