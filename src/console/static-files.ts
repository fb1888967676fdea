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

/** The files directly in a directory that are of the kinds above. */
export interface StaticFolder {
  readonly directory: string;
  /** Default: all files. */
  readonly names?: readonly string[];
}

export interface StaticFilesOptions {
  /** With a slash at the end. The prefix itself serves `index.html`. */
  readonly prefix: string;
  readonly folders: readonly StaticFolder[];
  readonly headers: Readonly<Record<string, string>>;
}

interface StaticFile {
  readonly mediaType: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** A route for each file of a page, all read once: no path of a request ever reaches the file system. */
export function staticRoutes({ prefix, folders, headers }: StaticFilesOptions): [string, ConsoleHandler][] {
  return folders.flatMap(readFolder).map(([name, { mediaType, etag, body }]) => {
    const sent = { ...headers, 'cache-control': 'no-cache', etag };
    return [
      `GET ${prefix}${name}`,
      (request) =>
        request.headers['if-none-match'] === etag
          ? { status: 304, headers: sent }
          : { headers: { ...sent, 'content-type': mediaType }, body },
    ];
  });
}

/** By name. The name of `index.html` is empty. */
function readFolder({ directory, names = readdirSync(directory) }: StaticFolder): [string, StaticFile][] {
  return names.flatMap((name): [string, StaticFile][] => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    const body = readFileSync(join(directory, name));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    return [[name === 'index.html' ? '' : name, { mediaType, etag, body }]];
  });
}
