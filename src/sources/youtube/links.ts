import type { ChannelLink } from '../../domain/channel.ts';
import { findYoutubeUrl } from './identities.ts';
import { firstAt, isJsonObject } from './json.ts';
import { textOf } from './texts.ts';

interface LinkShape {
  readonly title: string;
  readonly target: string;
  /** Shown instead of the target, shortened, without a scheme. */
  readonly display?: string;
}

const PANEL_LINK: LinkShape = {
  title: 'channelExternalLinkViewModel.title',
  target: 'channelExternalLinkViewModel.link.commandRuns.*.onTap.innertubeCommand.urlEndpoint.url',
  display: 'channelExternalLinkViewModel.link',
};

const TAB_LINK: LinkShape = { title: 'title', target: 'navigationEndpoint.urlEndpoint.url' };

/**
 * The links of an About panel (`links`, since 2023-11) or tab (`primaryLinks`, before): none when the part itself is
 * there without them, `undefined` when they are of an unknown shape.
 */
export function parseLinks(about: unknown): ChannelLink[] | undefined {
  if (!isJsonObject(about)) return undefined;
  const list = about.links ?? about.primaryLinks ?? [];
  if (!Array.isArray(list)) return undefined;
  const shape = about.links === undefined ? TAB_LINK : PANEL_LINK;
  return list.map((link: unknown) => parseLink(link, shape)).filter((link) => link !== undefined);
}

function parseLink(link: unknown, shape: LinkShape): ChannelLink | undefined {
  const display = shape.display === undefined ? undefined : textOf(firstAt(link, shape.display));
  const target = firstAt(link, shape.target);
  const url = typeof target === 'string' ? unwrapRedirect(target) : display && urlOfDisplay(display);
  if (!url) return undefined;
  const title = textOf(firstAt(link, shape.title))?.trim();
  return { title: title || display?.trim() || new URL(url).hostname, url };
}

/** The target behind `youtube.com/redirect?q=…` (its `redir_token` expires), or the URL itself; http and https only. */
export function unwrapRedirect(target: string): string | undefined {
  const wrapper = findYoutubeUrl(target);
  const url = wrapper?.pathname === '/redirect' ? wrapper.searchParams.get('q') : target;
  return url !== null && url !== undefined && isWebUrl(url) ? url : undefined;
}

function urlOfDisplay(display: string): string | undefined {
  const text = display.trim();
  const isShortened = text.endsWith('…') || text.endsWith('...');
  const url = `https://${text}`;
  return !isShortened && /^[^\s/:]+\.[^\s/:]+(\/\S*)?$/.test(text) && isWebUrl(url) ? url : undefined;
}

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'https:' || protocol === 'http:';
}
