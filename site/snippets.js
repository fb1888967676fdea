/**
 * @typedef {import('./pictures.js').PictureChoice} PictureChoice
 * @typedef {object} SnippetInput
 * @property {string} url the chosen picture's
 * @property {(format: 'avif' | 'webp' | 'jpeg') => string} urlOf the same picture in another format
 * @property {string} alt
 * @property {{ width: number, height: number } | undefined} size in pixels, once the picture is known
 */

/** @type {readonly { name: string, label: string, write: (input: SnippetInput) => string }[]} */
export const SNIPPETS = [
  { name: 'url', label: 'URL', write: ({ url }) => url },
  { name: 'img', label: '<img>', write: (input) => imgTag(input.url, input) },
  { name: 'picture', label: '<picture>', write: pictureTag },
  { name: 'markdown', label: 'Markdown', write: ({ url, alt }) => `![${alt.replace(/[[\]\\]/g, '\\$&')}](${url})` },
  { name: 'css', label: 'CSS', write: ({ url }) => `background: url("${url}") center / cover no-repeat;` },
  { name: 'curl', label: 'curl', write: ({ url }) => `curl -fsS -OJ '${url.replaceAll("'", '%27')}'` },
  { name: 'fetch', label: 'fetch', write: fetchCall },
];

/**
 * @param {string} url
 * @param {Pick<SnippetInput, 'alt' | 'size'>} input
 */
function imgTag(url, { alt, size }) {
  const sides = size === undefined ? '' : ` width="${size.width}" height="${size.height}"`;
  return `<img src="${escapeHtml(url)}"${sides} alt="${escapeHtml(alt)}" loading="lazy">`;
}

/** @param {SnippetInput} input */
function pictureTag(input) {
  return [
    '<picture>',
    `  <source type="image/avif" srcset="${escapeHtml(input.urlOf('avif'))}">`,
    `  <source type="image/webp" srcset="${escapeHtml(input.urlOf('webp'))}">`,
    `  ${imgTag(input.urlOf('jpeg'), input)}`,
    '</picture>',
  ].join('\n');
}

/** @param {SnippetInput} input */
function fetchCall({ url }) {
  return [
    `const response = await fetch(${JSON.stringify(url)});`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is part of what people copy.
    'if (!response.ok) throw new Error(`${response.status}: ${(await response.json()).detail}`);',
    'const picture = await response.blob();',
  ].join('\n');
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
