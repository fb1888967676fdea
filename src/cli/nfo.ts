import { DOMParser, type Document, type Element, type Node, XMLSerializer } from '@xmldom/xmldom';
import { isChannelId } from '../domain/identifier.ts';
import { CommandFailure } from './command.ts';

/** The fields of a channel's record that a library shows. */
export interface LibraryChannel {
  readonly channelId: string;
  readonly title: string;
  readonly description: string | null;
  readonly publishedAt: string | null;
  readonly avatarUrl: string | null;
  readonly bannerUrl: string | null;
}

/** URLs by the aspect of a `thumb` (https://kodi.wiki/view/NFO_files/TV_shows, 2026-11). */
type ImageUrls = Readonly<Partial<Record<'poster' | 'landscape' | 'banner' | 'fanart', string>>>;

const EMPTY = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<tvshow/>';
/** XML 1.0 forbids all other characters (section 2.2). */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const OWN_ASPECTS = new Set(['poster', 'landscape', 'banner']);

/** The channel of a tvshow.nfo. @throws CommandFailure if the text is no tvshow.nfo */
export function findChannelIdInNfo(text: string): string | undefined {
  const ids = childrenOf(rootOf(parse(text))).filter(isYoutubeId);
  return ids.map((element) => element.textContent ?? '').find(isChannelId);
}

/**
 * A tvshow.nfo with this channel. An existing title, and all elements that the command does not write, stay.
 *
 * @throws CommandFailure if the earlier text is no tvshow.nfo
 */
export function updateNfo(before: string | undefined, channel: LibraryChannel, images: ImageUrls): string {
  const document = parse(before ?? EMPTY);
  const root = rootOf(document);
  for (const element of childrenOf(root)) if (isOwn(element)) root.removeChild(element);
  const add = (tag: string, text: string, attributes: Readonly<Record<string, string>> = {}, parent = root) => {
    const element = document.createElement(tag);
    parent.appendChild(element);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text.replace(FORBIDDEN, '');
    return element;
  };
  const tags = new Set(childrenOf(root).map(({ tagName }) => tagName));
  if (!tags.has('title')) add('title', channel.title);
  add('plot', channel.description ?? '');
  if (channel.publishedAt !== null) add('premiered', channel.publishedAt.slice(0, 10));
  add('uniqueid', channel.channelId, { type: 'youtube', ...(!tags.has('uniqueid') && { default: 'true' }) });
  const { fanart, ...thumbs } = images;
  for (const [aspect, url] of Object.entries(thumbs)) add('thumb', url, { aspect });
  if (fanart !== undefined) add('thumb', fanart, {}, add('fanart', ''));
  indent(document, root);
  return `${new XMLSerializer().serializeToString(document)}\n`;
}

function parse(text: string): Document {
  try {
    return new DOMParser({
      onError(level, message) {
        if (level !== 'warning') throw new Error(message);
      },
    }).parseFromString(text.trim(), 'text/xml');
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : '';
    throw new CommandFailure(`tvshow.nfo is not XML (${reason}), and is not changed.`, { cause: error });
  }
}

function rootOf({ documentElement: root }: Document): Element {
  if (root?.tagName === 'tvshow') return root;
  throw new CommandFailure(`tvshow.nfo describes a ${root?.tagName ?? 'nothing'}, and is not changed.`);
}

const childrenOf = (parent: Element): readonly Element[] =>
  [...parent.childNodes].filter((node): node is Element => node.nodeType === node.ELEMENT_NODE);

const isYoutubeId = (element: Element) => element.tagName === 'uniqueid' && element.getAttribute('type') === 'youtube';

function isOwn(element: Element): boolean {
  const { tagName } = element;
  if (tagName === 'thumb') return OWN_ASPECTS.has(element.getAttribute('aspect') ?? 'poster');
  return tagName === 'plot' || tagName === 'premiered' || tagName === 'fanart' || isYoutubeId(element);
}

/** One line for each child of the root. */
function indent(document: Document, root: Element): void {
  const isBlank = (node: Node) => node.nodeType === node.TEXT_NODE && node.nodeValue?.trim() === '';
  for (const node of [...root.childNodes].filter(isBlank)) root.removeChild(node);
  for (const node of [...root.childNodes]) root.insertBefore(document.createTextNode('\n  '), node);
  root.appendChild(document.createTextNode('\n'));
}
