import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { ConsoleHandler } from './routes.ts';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

/**
 * A route for each file of a directory, all read once: no path of a request ever reaches the file system.
 *
 * @param prefix with a slash at the end; the prefix itself serves `index.html`
 * @param names default: all files in the directory; only those of the kinds above are served
 */
export function staticRoutes(
  prefix: string,
  directory: string,
  headers: Readonly<Record<string, string>>,
  names: readonly string[] = readdirSync(directory),
): [string, ConsoleHandler][] {
  return names.flatMap((name): [string, ConsoleHandler][] => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    const body = readFileSync(join(directory, name));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const sent = { ...headers, 'cache-control': 'no-cache', etag };
    const respond: ConsoleHandler = (request) =>
      request.headers['if-none-match'] === etag
        ? { status: 304, headers: sent }
        : { headers: { ...sent, 'content-type': mediaType }, body };
    return [[`GET ${prefix}${name === 'index.html' ? '' : name}`, respond]];
  });
}
