import { Marked } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

const markdown = new Marked(gfmHeadingId());

/** The page of the playground's site that shows docs/api.md. */
export async function apiPage(document: string): Promise<string> {
  const content = await markdown.parse(document);
  const sections = getHeadingList().filter(({ level }) => level === 2);
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="description" content="Every path, parameter, response and error of the HTTP API.">
  <title>Pennant HTTP API</title>
  <link rel="icon" href="pennant.svg" type="image/svg+xml">
  <link rel="stylesheet" href="api.css">
</head>
<body>
<header class="top"><p class="brand"><img src="pennant.svg" alt="" width="28" height="28">Pennant <span>HTTP API</span></p>
<p><a href="./">Playground</a></p></header>
<nav aria-label="On this page">
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
