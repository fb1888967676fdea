import { basename } from 'node:path';
import { Marked, type MarkedExtension, type Tokens } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

/** The documents that the console serves, by the names of their pages. docs/api.md is a page of the playground. */
export const GUIDE: Readonly<Record<string, string>> = {
  operating: 'docs/operating.md',
  youtube: 'docs/youtube.md',
  settings: 'docs/settings.md',
  proxies: 'docs/proxies.md',
  catalog: 'docs/catalog.md',
  images: 'docs/images.md',
  performance: 'docs/performance.md',
  installing: 'docs/installing.md',
  security: 'SECURITY.md',
  changelog: 'CHANGELOG.md',
};

/** On a phone, cells stand below each other, each with the head of its column (web/styles/document.css). */
const LABELLED_CELLS: MarkedExtension = {
  renderer: {
    table({ header, rows }) {
      const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
      const heads = header.map((cell) => `<th>${inline(cell)}</th>`).join('');
      const names = header.map(({ tokens }) => this.parser.parseInline(tokens, this.parser.textRenderer));
      const body = rows.map((row) => {
        const cells = row.map((cell, at) => `<td data-head="${names[at]}">${inline(cell)}</td>`);
        return `<tr>${cells.join('')}</tr>\n`;
      });
      return `<table>\n<thead>\n<tr>${heads}</tr>\n</thead>\n<tbody>\n${body.join('')}</tbody>\n</table>\n`;
    },
  },
};
const markdown = new Marked(gfmHeadingId(), LABELLED_CELLS);
/** The address of the page of a file, from another page of the guide. */
const PAGES_OF_FILES = new Map([
  ['api.md', '../playground/api.html'],
  ...Object.entries(GUIDE).map(([page, path]) => [basename(path), `${page}.html`] as const),
]);
const guideMarkdown = new Marked(gfmHeadingId(), LABELLED_CELLS, {
  renderer: {
    /** Links to files that the console does not serve become text. */
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const [, file = '', anchor = ''] = /^(?:\.\.\/|docs\/)?([a-z]+\.md)(#.*)?$/i.exec(href) ?? [];
      const target = file === '' ? href : `${PAGES_OF_FILES.get(file) ?? ''}${anchor}`;
      return /^(?:https?:|#|(?:\.\.\/playground\/)?[a-z]+\.html)/.test(target)
        ? `<a href="${target}">${text}</a>`
        : text;
    },
  },
});

interface Page {
  readonly title: string;
  readonly description: string;
  /** The path to the files of the playground's site. */
  readonly files: string;
  /** Links beside the title, as HTML. */
  readonly links: string;
}

/** The page of the playground's site that shows docs/api.md. */
export function apiPage(document: string): string {
  return pageOf(markdown, document, {
    title: 'HTTP API',
    description: 'Every path, parameter, response and error of the HTTP API.',
    files: '',
    links: '<a href="./">Playground</a>',
  });
}

/** A page of the guide for the console. */
export function guidePage(document: string): string {
  return pageOf(guideMarkdown, document, {
    title: 'Guide',
    description: 'For operators.',
    files: '../playground/',
    links: `<a href="../">Console</a> ${Object.keys(GUIDE)
      .map((name) => `<a href="${name}.html">${name}</a>`)
      .join(' ')}`,
  });
}

function pageOf(converter: Marked, document: string, { title, description, files, links }: Page): string {
  const content = converter.parse(document, { async: false });
  const sections = getHeadingList().filter(({ level }) => level === 2);
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${description}">
  <title>Pennant ${title}</title>
  <link rel="icon" href="${files}pennant.svg" type="image/svg+xml">
  <link rel="stylesheet" href="${files}pages.css">
</head>
<body class="document">
<header class="row"><p class="brand"><img src="${files}pennant.svg" alt="" width="28" height="28">Pennant <span>${title}</span></p>
<nav class="row tight" aria-label="Other pages">${links}</nav></header>
<nav class="sections" aria-label="On this page">
<ul>
${sections.map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`).join('\n')}
</ul>
</nav>
<main>
${content}</main>
</body>
</html>
`;
}
