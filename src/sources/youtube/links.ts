import type { ChannelLink } from '../../domain/channel.ts';
import { firstAt, isJsonObject, valuesAt } from '../json.ts';
import { MAX_CHARACTERS } from '../text-limits.ts';
import { findYoutubeUrl } from '../youtube-urls.ts';
import { textOf } from './texts.ts';

/** Where a link has its title and its target: in panels, then in tabs. */
const TITLES = ['channelExternalLinkViewModel.title', 'title'];
const TARGETS = [
  'channelExternalLinkViewModel.link.commandRuns.*.onTap.innertubeCommand.urlEndpoint.url',
  'navigationEndpoint.urlEndpoint.url',
];
/** The text that panels show for the target: shortened, without a scheme. */
const DISPLAY = 'channelExternalLinkViewModel.link';

/** A channel may have 14 (2026-07). */
const MAX_LINKS = 100;
/** Also the limit of the catalog. */
const MAX_TITLE_CHARACTERS = 200;
/** Owners may have copied a link that YouTube had wrapped. */
const MAX_WRAPPERS = 2;
/** The redirector's part plus an escaped URL. */
const MAX_WRAPPER_CHARACTERS = 4 * MAX_CHARACTERS.url;

/**
 * The links of an About panel (`links`, since 2023-11) or tab (`primaryLinks`, before). Empty if the part has no links,
 * `undefined` if they have an unknown form.
 */
export function parseLinks(about: unknown): ChannelLink[] | undefined {
  if (!isJsonObject(about)) return undefined;
  const list = about.links ?? about.primaryLinks ?? [];
  if (!Array.isArray(list)) return undefined;
  const shown = list.slice(0, MAX_LINKS);
  const links = shown.map(parseLink).filter((link) => link !== undefined);
  const isUnknown = shown.length > 0 && links.length === 0 && shown.every((link) => targetOf(link) === undefined);
  return isUnknown ? undefined : links;
}

function targetOf(link: unknown): unknown {
  return TARGETS.flatMap((path) => valuesAt(link, path))[0];
}

function parseLink(link: unknown): ChannelLink | undefined {
  const display = textOf(firstAt(link, DISPLAY))?.trim() ?? '';
  const target = targetOf(link);
  const isShortened = display.endsWith('…') || display.endsWith('...');
  const url =
    (typeof target === 'string' ? parseLinkTarget(target) : undefined) ?? parseWebUrl(isShortened ? '' : display);
  if (url === undefined) return undefined;
  const title = textOf(TITLES.flatMap((path) => valuesAt(link, path))[0])?.trim();
  return { title: shortened(title || display || url.hostname), url: url.href };
}

function shortened(title: string): string {
  return title.length <= MAX_TITLE_CHARACTERS ? title : title.slice(0, MAX_TITLE_CHARACTERS).toWellFormed();
}

/**
 * The target of a link: an http or https URL; the scheme may be missing. Targets in `youtube.com/redirect?q=…` are
 * extracted, because its `redir_token` expires. `undefined` for everything else.
 */
export function parseLinkTarget(target: string, wrappers = 0): URL | undefined {
  if (target.length > MAX_WRAPPER_CHARACTERS) return undefined;
  const url = findYoutubeUrl(target) ?? parseWebUrl(target);
  const isWrapper = url !== undefined && /^\/redirect\/?$/.test(url.pathname) && findYoutubeUrl(url.href) !== undefined;
  if (!isWrapper) return url;
  return wrappers === MAX_WRAPPERS ? undefined : parseLinkTarget(url.searchParams.get('q') ?? '', wrappers + 1);
}

const WEB_SCHEME = /^https?:/i;
/** A host name with a dot and an optional port before the path: how people write URLs without a scheme. */
const HOST = /^[^\s/?#:@]{1,253}(?::\d{1,5})?(?=[/?#]|$)/;

function parseWebUrl(text: string): URL | undefined {
  const url = text.length > MAX_CHARACTERS.url ? null : parseWithOrWithoutScheme(text.trim());
  return url !== null && url.href.length <= MAX_CHARACTERS.url ? url : undefined;
}

function parseWithOrWithoutScheme(text: string): URL | null {
  if (WEB_SCHEME.test(text)) return URL.parse(text);
  const address = text.startsWith('//') ? text.slice(2) : text;
  const url = HOST.test(address) ? URL.parse(`https://${address}`) : null;
  return url !== null && /[^.]\.[^.]/.test(url.hostname) ? url : null;
}
