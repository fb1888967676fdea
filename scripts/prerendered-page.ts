import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * The page of a folder with its first words, so that they are there before its script is, and with a Content-Security-Policy
 * that allows the scripts of the page.
 */
export async function prerenderedPage(folder: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'prerendered.tsx')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? '').toString('base64');
  const { HTML } = (await import(`data:text/javascript;base64,${code}`)) as { readonly HTML: string };
  const page = readFileSync(join(folder, 'index.html'), 'utf8').replace(
    /(<body[^>]*>).*<\/body>/,
    (_body, start: string) => `${start}${HTML}</body>`,
  );
  return page.replace(
    '<meta charset="utf-8">',
    `$&\n  <meta http-equiv="Content-Security-Policy" content="${policyOf(page)}">`,
  );
}

/** What the page may load and run. */
function policyOf(page: string): string {
  const scripts = [...page.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text = '']) => {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  });
  const rules = {
    'default-src': "'none'",
    'script-src': ["'self'", ...scripts].join(' '),
    'style-src': "'self'",
    'img-src': "'self' blob:",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
  };
  return Object.entries(rules)
    .map((rule) => rule.join(' '))
    .join('; ');
}
