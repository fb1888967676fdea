import { MAX_SIDE_PX, variantRow } from '../../src/domain/variants.ts';
import type { Snippet } from '../parts/snippets.tsx';
import { type ImageChoice, kindOf } from './image-url.ts';

export interface ImageSnippetInput {
  readonly choice: ImageChoice;
  /** The chosen image with these changes. */
  readonly urlOf: (changes: Partial<ImageChoice>) => string;
  readonly alt: string;
  /** The size in pixels, once the image is loaded. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/** The crop for each width of the window, narrowest first. `widths` are for one and two pixels per CSS pixel. */
const CROPS = [
  { variant: 'mobile', media: '(max-width: 640px)', widths: [640, 1280] },
  { variant: 'tablet', media: '(max-width: 1200px)', widths: [1200, 2400] },
  { variant: 'desktop', media: undefined, widths: [1280, 2560] },
] as const;

/** The size that link previews show without cutting, and a quality with which every picture of it is under 300 KB. */
const PREVIEW = { width: '1200', height: '630', quality: '60' };

export function imageSnippets(input: ImageSnippetInput): readonly Snippet[] {
  const { urlOf, alt, choice } = input;
  const picture = { label: '<picture>', text: pictureTag(input), note: 'The crop for the width of the window.' };
  return [
    { label: '<img>', text: imgTag(input), note: 'Sharp on screens with two pixels per CSS pixel.' },
    ...(kindOf(choice.variant) === 'banner' ? [picture] : []),
    { label: 'Markdown', text: `![${escapeMarkdown(alt)}](${urlOf({})})` },
    { label: 'curl', text: `curl -fsS -OJ ${shellQuote(urlOf({}))}` },
    { label: 'Link preview', text: previewTags(input), note: 'For the head of a page: a JPEG under 300 KB.' },
  ];
}

function imgTag({ urlOf, choice, alt, size }: ImageSnippetInput) {
  const double = doubled(choice);
  const srcset = double === undefined ? [] : [`srcset="${escapeHtml(`${urlOf({})} 1x, ${urlOf(double)} 2x`)}"`];
  return tag('img', [`src="${escapeHtml(urlOf({}))}"`, ...srcset, ...sizeAttributes(size), ...commonAttributes(alt)]);
}

function pictureTag({ urlOf, alt }: ImageSnippetInput) {
  const lines = CROPS.map(({ variant, media, widths: [narrow, wide] }) => {
    const { visible } = variantRow(variant);
    const crop = (width: number) => urlOf({ variant, width: String(width), height: '' });
    const srcset = `srcset="${escapeHtml(`${crop(narrow)} 1x, ${crop(wide)} 2x`)}"`;
    const box = sizeAttributes({ width: narrow, height: Math.round((narrow * visible.height) / visible.width) });
    return media === undefined
      ? tag('img', [`src="${escapeHtml(crop(narrow))}"`, srcset, ...box, ...commonAttributes(alt)], '  ')
      : tag('source', [`media="${media}"`, srcset, ...box], '  ');
  });
  return ['<picture>', ...lines, '</picture>'].join('\n');
}

function previewTags({ urlOf, choice, alt }: ImageSnippetInput) {
  const variant = kindOf(choice.variant) === 'avatar' ? 'avatar' : 'tv';
  const tags = { 'og:image': urlOf({ ...PREVIEW, variant, format: 'jpeg', fit: '' }), 'og:image:alt': alt };
  return Object.entries(tags)
    .map(([property, content]) => `<meta property="${property}" content="${escapeHtml(content)}">`)
    .join('\n');
}

/** The choice at twice the size, if a request may name it. */
function doubled({ width, height }: ImageChoice) {
  const [wide, high] = [Number(width) * 2, Number(height) * 2];
  if ((wide === 0 && high === 0) || wide > MAX_SIDE_PX || high > MAX_SIDE_PX) return undefined;
  return { width: wide === 0 ? '' : String(wide), height: high === 0 ? '' : String(high) };
}

function sizeAttributes(size: ImageSnippetInput['size']) {
  return size === undefined ? [] : [`width="${size.width}" height="${size.height}"`];
}

/** An image that cannot be loaded is removed, so that no broken icon is left. */
function commonAttributes(alt: string) {
  return [`alt="${escapeHtml(alt)}" loading="lazy" onerror="this.remove()"`];
}

/** @param attributes one line each */
function tag(name: string, attributes: readonly string[], indent: string = '') {
  return `${indent}<${name} ${attributes.join(`\n${indent}  `)}>`;
}

/** Quotes a text for POSIX shells. */
export function shellQuote(text: string) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes the text of a link or an image. */
export function escapeMarkdown(text: string) {
  return text.replace(/[[\]\\]/g, '\\$&').replace(/\s+/g, ' ');
}

export function escapeHtml(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
