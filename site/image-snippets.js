/**
 * @typedef {import('./images.js').ImageChoice} ImageChoice
 * @typedef {import('./images.js').Variant} Variant
 * @typedef {object} ImageSnippetInput
 * @property {ImageChoice} choice
 * @property {(changes: Partial<ImageChoice>) => string} urlOf the chosen image with these changes
 * @property {string} alt
 * @property {{ width: number, height: number } | undefined} size in pixels, once the image is loaded
 *
 * @typedef {import('./snippet-box.js').Snippet<ImageSnippetInput>} ImageSnippet
 */

/** The largest side that a request may name. */
const MAX_SIDE = 4096;
/** Removes an image that cannot be loaded, so that no broken icon is left. */
const ON_ERROR = 'this.remove()';

/** The crop for each width of the window, narrowest first. `widths` are for one and two pixels per CSS pixel. */
const CROPS = /** @type {const} */ ([
  { variant: 'mobile', media: '(max-width: 640px)', widths: [640, 1280], ratio: 1546 / 423 },
  { variant: 'tablet', media: '(max-width: 1200px)', widths: [1200, 2400], ratio: 1855 / 423 },
  { variant: 'desktop', media: undefined, widths: [1280, 2560], ratio: 2560 / 423 },
]);

/** @type {ImageSnippet} */
const URL_SNIPPET = { name: 'url', label: 'URL', write: ({ urlOf }) => urlOf({}) };

/** @type {ImageSnippet} */
const IMG_SNIPPET = {
  name: 'img',
  label: '<img>',
  write: imgTag,
  note: 'Sharp on screens with two pixels per CSS pixel. An image that cannot be loaded is removed.',
};

/** @type {readonly ImageSnippet[]} */
const CODE_SNIPPETS = [
  { name: 'markdown', label: 'Markdown', write: markdownImage },
  { name: 'css', label: 'CSS', write: cssBackground },
  { name: 'curl', label: 'curl', write: ({ urlOf }) => `curl -fsS -OJ ${shellQuote(urlOf({}))}` },
  { name: 'fetch', label: 'fetch', write: fetchCall },
];

/** @type {readonly ImageSnippet[]} */
const BANNER_SNIPPETS = [
  URL_SNIPPET,
  IMG_SNIPPET,
  {
    name: 'image',
    label: '<picture>',
    write: imageTag,
    note: 'The phone crop in narrow windows, the tablet crop in wider ones, else the desktop crop.',
  },
  {
    name: 'srcset',
    label: 'srcset',
    write: widthsTag,
    note: 'The browser loads the smallest image that fills the page’s width.',
  },
  ...CODE_SNIPPETS,
];
/** @type {readonly ImageSnippet[]} */
const AVATAR_SNIPPETS = [URL_SNIPPET, IMG_SNIPPET, ...CODE_SNIPPETS];

/** @param {Variant} variant */
export function imageSnippets(variant) {
  return variant === 'avatar' ? AVATAR_SNIPPETS : BANNER_SNIPPETS;
}

/** @param {ImageSnippetInput} input */
function imgTag({ urlOf, choice, alt, size }) {
  const double = doubled(choice);
  const srcset = double === undefined ? [] : [`srcset="${escapeHtml(`${urlOf({})} 1x, ${urlOf(double)} 2x`)}"`];
  return tag('img', [`src="${escapeHtml(urlOf({}))}"`, ...srcset, ...sides(size), ...shared(alt)]);
}

/** @param {ImageSnippetInput} input */
function imageTag({ urlOf, alt }) {
  const lines = CROPS.map(({ variant, media, widths: [narrow, wide], ratio }) => {
    const crop = (/** @type {number} */ width) => urlOf({ variant, width: String(width), height: '' });
    const srcset = `srcset="${escapeHtml(`${crop(narrow)} 1x, ${crop(wide)} 2x`)}"`;
    const box = sides({ width: narrow, height: Math.round(narrow / ratio) });
    return media === undefined
      ? tag('img', [`src="${escapeHtml(crop(narrow))}"`, srcset, ...box, ...shared(alt)], '  ')
      : tag('source', [`media="${media}"`, srcset, ...box], '  ');
  });
  return ['<picture>', ...lines, '</picture>'].join('\n');
}

/** @param {ImageSnippetInput} input */
function widthsTag({ urlOf, alt, size }) {
  const of = (/** @type {number} */ width) => urlOf({ width: String(width), height: '' });
  const srcset = [640, 1280, 2560].map((width) => `${of(width)} ${width}w`).join(', ');
  const attributes = [`src="${escapeHtml(of(1280))}"`, `srcset="${escapeHtml(srcset)}"`, 'sizes="100vw"'];
  return tag('img', [...attributes, ...sides(size), ...shared(alt)]);
}

/**
 * The choice at twice the size, if a request may name it.
 *
 * @param {ImageChoice} choice
 */
function doubled({ width, height }) {
  const [wide, high] = [Number(width) * 2, Number(height) * 2];
  if ((wide === 0 && high === 0) || wide > MAX_SIDE || high > MAX_SIDE) return undefined;
  return { width: wide === 0 ? '' : String(wide), height: high === 0 ? '' : String(high) };
}

/** @param {{ width: number, height: number } | undefined} size */
function sides(size) {
  return size === undefined ? [] : [`width="${size.width}" height="${size.height}"`];
}

/** @param {string} alt */
function shared(alt) {
  return [`alt="${escapeHtml(alt)}" loading="lazy" onerror="${ON_ERROR}"`];
}

/**
 * @param {string} name
 * @param {readonly string[]} attributes one line each
 * @param {string} [indent]
 */
function tag(name, attributes, indent = '') {
  return `${indent}<${name} ${attributes.join(`\n${indent}  `)}>`;
}

/** @param {ImageSnippetInput} input */
function markdownImage({ urlOf, alt }) {
  return `![${alt.replace(/[[\]\\]/g, '\\$&').replace(/\s+/g, ' ')}](${urlOf({})})`;
}

/** @param {ImageSnippetInput} input */
function cssBackground({ urlOf, choice }) {
  const double = doubled(choice);
  const one = `url("${urlOf({})}")`;
  const image = double === undefined ? one : `image-set(${one} 1x, url("${urlOf(double)}") 2x)`;
  return `background: ${image} center / cover no-repeat;`;
}

/** @param {ImageSnippetInput} input */
function fetchCall({ urlOf }) {
  return [
    `const response = await fetch(${JSON.stringify(urlOf({}))});`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is part of the text to copy.
    'if (!response.ok) throw new Error(`${response.status}: ${(await response.json()).detail}`);',
    'const image = await response.blob();',
  ].join('\n');
}

/**
 * Quotes a text for POSIX shells.
 *
 * @param {string} text
 */
export function shellQuote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
