import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What lies directly in it, of the kinds above. */
export interface StaticFolder {
  readonly directory: string;
  /** Of its files; all of them when left out. */
  readonly names?: readonly string[];
}

export interface StaticFilesOptions {
  /** With a slash at the end; its own address answers `index.html`. */
  readonly prefix: string;
  readonly folders: readonly StaticFolder[];
  readonly headers: Readonly<Record<string, string>>;
}

interface StaticFile {
  readonly mediaType: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** A page and what belongs to it, read once: no path of a request ever reaches the file system. */
export function addStaticFiles(app: FastifyInstance, { prefix, folders, headers }: StaticFilesOptions): void {
  const files = new Map(folders.flatMap(readFolder));

  function send(name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const file = files.get(name);
    if (file === undefined) {
      reply.callNotFound();
      return reply;
    }
    const { mediaType, etag, body } = file;
    reply.headers({ ...headers, 'cache-control': 'no-cache', etag });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type(mediaType).send(body);
  }

  app.get(prefix, (request, reply) => send('', request, reply));
  app.get<{ Params: { name: string } }>(`${prefix}:name`, (request, reply) =>
    send(request.params.name, request, reply),
  );
}

/** `index.html` has no name of its own. */
function readFolder({ directory, names = readdirSync(directory) }: StaticFolder): [string, StaticFile][] {
  return names.flatMap((name): [string, StaticFile][] => {
    const mediaType = MEDIA_TYPES[extname(name)];
    if (mediaType === undefined) return [];
    const body = readFileSync(join(directory, name));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    return [[name === 'index.html' ? '' : name, { mediaType, etag, body }]];
  });
}
