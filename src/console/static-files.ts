import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface StaticFilesOptions {
  /** With a slash at the end; its own address answers `index.html`. */
  readonly prefix: string;
  /** Only what lies directly in it, of the kinds above, is served. */
  readonly directory: string;
  /** Of the files in the directory; all of them when left out. */
  readonly names?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** A page and what belongs to it, read once: no path of a request ever reaches the file system. */
export function addStaticFiles(app: FastifyInstance, options: StaticFilesOptions): void {
  const { prefix, directory, headers, names = readdirSync(directory) } = options;
  for (const name of names) {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) continue;
    const body = readFileSync(join(directory, name));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    app.get(`${prefix}${name === 'index.html' ? '' : name}`, (request, reply) => {
      reply.headers({ ...headers, 'cache-control': 'no-cache', etag });
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      return reply.type(mediaType).send(body);
    });
  }
}
