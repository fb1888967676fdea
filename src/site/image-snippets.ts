import { MAX_SIDE_PX, VARIANT_PRESETS, type Variant } from '../domain/variants.ts';
import type { ImageChoice } from './image-choice.ts';
import type { Snippet } from './snippet-box.ts';

export interface ImageSnippetInput {
  readonly choice: ImageChoice;
  /** The chosen image with these changes. */
  readonly urlOf: (changes: Partial<ImageChoice>) => string;
  readonly alt: string;
  /** In pixels, once the image is loaded. */
  readonly size: { width: number; height: number } | undefined;
}

type ImageSnippet = Snippet<ImageSnippetInput>;

/** Removes an image that cannot be loaded, so that no broken icon is left. */
const ON_ERROR = 'this.remove()';

/** The crop for each width of the window, narrowest first. `widths` are for one and two pixels per CSS pixel. */
const CROPS = [
  { variant: 'mobile', media: '(max-width: 640px)', widths: [640, 1280] },
  { variant: 'tablet', media: '(max-width: 1200px)', widths: [1200, 2400] },
  { variant: 'desktop', media: undefined, widths: [1280, 2560] },
] as const;

const IMG_SNIPPET: ImageSnippet = {
  name: 'img',
  label: '<img>',
  write: imgTag,
  note: 'Sharp on screens with two pixels per CSS pixel. An image that cannot be loaded is removed.',
};

const CODE_SNIPPETS: readonly ImageSnippet[] = [
  { name: 'markdown', label: 'Markdown', write: markdownImage },
  { name: 'css', label: 'CSS', write: cssBackground },
  { name: 'curl', label: 'curl', write: ({ urlOf }) => `curl -fsS -OJ ${shellQuote(urlOf({}))}` },
  { name: 'fetch', label: 'fetch', write: fetchCall },
];

const BANNER_SNIPPETS: readonly ImageSnippet[] = [
  IMG_SNIPPET,
  {
    name: 'picture',
    label: '<picture>',
    write: pictureTag,
    note: 'The phone crop in narrow windows, the tablet crop in wider ones, else the desktop crop.',
  },
  {
    name: 'srcset',
    label: 'srcset',
    write: srcsetTag,
    note: 'The browser loads the smallest image that fills the page’s width.',
  },
  ...CODE_SNIPPETS,
];
const AVATAR_SNIPPETS: readonly ImageSnippet[] = [IMG_SNIPPET, ...CODE_SNIPPETS];

export function imageSnippets(variant: Variant) {
  return variant === 'avatar' ? AVATAR_SNIPPETS : BANNER_SNIPPETS;
}

function imgTag({ urlOf, choice, alt, size }: ImageSnippetInput) {
  const double = doubled(choice);
  const srcset = double === undefined ? [] : [`srcset="${escapeHtml(`${urlOf({})} 1x, ${urlOf(double)} 2x`)}"`];
  return tag('img', [`src="${escapeHtml(urlOf({}))}"`, ...srcset, ...sizeAttributes(size), ...commonAttributes(alt)]);
}

function pictureTag({ urlOf, alt }: ImageSnippetInput) {
  const lines = CROPS.map(({ variant, media, widths: [narrow, wide] }) => {
    const { visible } = VARIANT_PRESETS[variant];
    const crop = (width: number) => urlOf({ variant, width: String(width), height: '' });
    const srcset = `srcset="${escapeHtml(`${crop(narrow)} 1x, ${crop(wide)} 2x`)}"`;
    const box = sizeAttributes({ width: narrow, height: Math.round((narrow * visible.height) / visible.width) });
    return media === undefined
      ? tag('img', [`src="${escapeHtml(crop(narrow))}"`, srcset, ...box, ...commonAttributes(alt)], '  ')
      : tag('source', [`media="${media}"`, srcset, ...box], '  ');
  });
  return ['<picture>', ...lines, '</picture>'].join('\n');
}

function srcsetTag({ urlOf, alt, size }: ImageSnippetInput) {
  const of = (width: number) => urlOf({ width: String(width), height: '' });
  const srcset = [640, 1280, 2560].map((width) => `${of(width)} ${width}w`).join(', ');
  const attributes = [`src="${escapeHtml(of(1280))}"`, `srcset="${escapeHtml(srcset)}"`, 'sizes="100vw"'];
  return tag('img', [...attributes, ...sizeAttributes(size), ...commonAttributes(alt)]);
}

/** The choice at twice the size, if a request may name it. */
function doubled({ width, height }: ImageChoice) {
  const [wide, high] = [Number(width) * 2, Number(height) * 2];
  if ((wide === 0 && high === 0) || wide > MAX_SIDE_PX || high > MAX_SIDE_PX) return undefined;
  return { width: wide === 0 ? '' : String(wide), height: high === 0 ? '' : String(high) };
}

function sizeAttributes(size: { width: number; height: number } | undefined) {
  return size === undefined ? [] : [`width="${size.width}" height="${size.height}"`];
}

function commonAttributes(alt: string) {
  return [`alt="${escapeHtml(alt)}" loading="lazy" onerror="${ON_ERROR}"`];
}

/** @param attributes one line each */
function tag(name: string, attributes: readonly string[], indent: string = '') {
  return `${indent}<${name} ${attributes.join(`\n${indent}  `)}>`;
}

function markdownImage({ urlOf, alt }: ImageSnippetInput) {
  return `![${escapeMarkdown(alt)}](${urlOf({})})`;
}

function cssBackground({ urlOf, choice }: ImageSnippetInput) {
  const double = doubled(choice);
  const one = `url("${urlOf({})}")`;
  const image = double === undefined ? one : `image-set(${one} 1x, url("${urlOf(double)}") 2x)`;
  return `background: ${image} center / cover no-repeat;`;
}

function fetchCall({ urlOf }: ImageSnippetInput) {
  return [
    `const response = await fetch(${JSON.stringify(urlOf({}))});`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is part of the text to copy.
    'if (!response.ok) throw new Error(`${response.status}: ${(await response.json()).detail}`);',
    'const image = await response.blob();',
  ].join('\n');
}

/** Quotes a text for POSIX shells. */
export function shellQuote(text: string) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For the text of a link or an image. */
export function escapeMarkdown(text: string) {
  return text.replace(/[[\]\\]/g, '\\$&').replace(/\s+/g, ' ');
}

export function escapeHtml(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
