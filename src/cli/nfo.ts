/** The fields of a channel's record that a library shows. */
export interface LibraryChannel {
  readonly channelId: string;
  readonly title: string;
  readonly description: string | null;
  readonly publishedAt: string | null;
  readonly avatarUrl: string | null;
  readonly bannerUrl: string | null;
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<!-- pennant library -->\n';

/** The channel of a tvshow.nfo that `nfoOf` has made. */
export function channelOfNfo(text: string): string | undefined {
  return text.startsWith(HEAD) ? /<uniqueid type="youtube" default="true">(UC[\w-]{22})</.exec(text)?.[1] : undefined;
}

/** The elements of https://kodi.wiki/view/NFO_files/TV_shows (2026-11). @param base of the instance with the images */
export function nfoOf(channel: LibraryChannel, base: string): string {
  const { channelId, title, description, publishedAt, avatarUrl, bannerUrl } = channel;
  const image = (path: string) => xml(`${base}/${channelId}/${path}`);
  const elements = [
    `<title>${xml(title)}</title>`,
    `<plot>${xml(description ?? '')}</plot>`,
    publishedAt && `<premiered>${publishedAt.slice(0, 10)}</premiered>`,
    `<uniqueid type="youtube" default="true">${channelId}</uniqueid>`,
    avatarUrl &&
      `<thumb aspect="poster">${image('avatar.jpg?width=800&height=1200&fit=contain&background=000')}</thumb>`,
    bannerUrl && `<thumb aspect="landscape">${image('tv.jpg?width=1000')}</thumb>`,
    bannerUrl && `<thumb aspect="banner">${image('desktop.jpg?width=1000&height=185')}</thumb>`,
    bannerUrl && `<fanart><thumb>${image('tv.jpg?width=1920')}</thumb></fanart>`,
  ];
  const lines = elements.filter((element) => element !== null).map((element) => `  ${element}\n`);
  return `${HEAD}<tvshow>\n${lines.join('')}</tvshow>\n`;
}

/** XML 1.0 forbids all other characters (section 2.2). */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

function xml(text: string): string {
  return text.replace(FORBIDDEN, '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
