import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FORMATS } from '../../domain/formats.ts';
import type { Clock } from '../../lib/clock.ts';
import { answersOf, ICON, JSON_DOCUMENT } from '../openapi/schemas.ts';
import { findUnchangedEtag } from '../response/conditional.ts';
import { entityTag } from '../response/entity-tag.ts';
import { JSON_MEDIA_TYPE } from '../response/json-answer.ts';
import { listProblems } from '../response/problems.ts';
import type { Answer } from '../response/send.ts';
import { addEndpoint } from './endpoint.ts';

export interface DocumentRouteDeps {
  readonly clock: Clock;
  /** How to reach the operator. */
  readonly contact: string | undefined;
  readonly defaultLimit: { readonly requests: number; readonly windowMs: number };
  readonly version: string;
  /** The OpenAPI document, but for where this service is. */
  readonly describe: () => Promise<object>;
}

/** The index, the list of problems, the OpenAPI document and the icon. */
export function addDocumentRoutes(app: FastifyInstance, deps: DocumentRouteDeps): void {
  const { clock } = deps;
  function document(url: string, summary: string, contentOf: (base: string) => object | Promise<object>): void {
    addEndpoint(
      { app, clock },
      {
        url,
        schema: { summary, response: answersOf(JSON_DOCUMENT) },
        parsePath: () => undefined,
        async answer(_path, request) {
          const content = await contentOf(request.exchange.base);
          return unchanging(request, JSON_MEDIA_TYPE, JSON.stringify(content));
        },
      },
    );
  }

  document('/', 'What this service answers', (base) => indexOf(base, deps));
  document('/problems', 'Every error code', (base) => ({ problems: listProblems(base) }));
  let description: object | undefined;
  document('/openapi.json', 'This document', async (base) => {
    description ??= await deps.describe();
    return { ...description, servers: [{ url: base }] };
  });

  const icon = readFileSync(new URL('../favicon.png', import.meta.url));
  addEndpoint(
    { app, clock },
    {
      url: '/favicon.ico',
      schema: {
        summary: 'The service’s icon',
        response: answersOf(ICON),
      },
      parsePath: () => undefined,
      answer: (_path, request) => unchanging(request, 'image/png', icon),
    },
  );
}

function unchanging(request: FastifyRequest, contentType: string, body: string | Buffer): Answer {
  const etag = entityTag(body);
  const headers = { 'cache-control': 'public, max-age=3600', etag };
  if (findUnchangedEtag(request.headers, { etag }) !== undefined) return { status: 304, headers };
  return { status: 200, headers: { 'content-type': contentType, ...headers }, body };
}

const EXAMPLE_ID = 'UCPennantSample00000001A';

function indexOf(base: string, { contact, defaultLimit, version }: DocumentRouteDeps): object {
  const picture = 'A banner crop or the avatar: default, tv, desktop, tablet, mobile, avatar.';
  return {
    name: 'Pennant',
    version,
    description: 'A video channel’s metadata as JSON, its banner and avatar as images. No key, no log-in.',
    endpoints: [
      {
        path: '/api/channel/{identifier}?type=id|handle|username',
        description: 'The channel’s record as JSON.',
        example: `${base}/api/channel/pennantsample?type=handle`,
      },
      {
        path: `/api/banner/{identifier}?type={variant}&format=${FORMATS.join('|')}&width=&height=&quality=`,
        description: picture,
        example: `${base}/api/banner/${EXAMPLE_ID}?type=tv`,
      },
      {
        path: '/{identifier}/{variant}[.{format}]',
        description: picture,
        example: `${base}/${EXAMPLE_ID}/avatar.webp`,
      },
      {
        path: '/api/search?q={text}&limit=1–50',
        description: 'Channels that fit a text.',
        example: `${base}/api/search?q=pennant`,
      },
      {
        path: '/channel/{id}, /c/{name}, /user/{name}',
        description: 'The record at a channel page’s path.',
        example: `${base}/channel/${EXAMPLE_ID}`,
      },
    ],
    openapi: `${base}/openapi.json`,
    problems: `${base}/problems`,
    limits: {
      requests: defaultLimit.requests,
      seconds: defaultLimit.windowMs / 1000,
      per: 'client IP address (IPv6: network)',
      higherLimits: contact === undefined ? null : `on request: ${contact}`,
    },
    contact: contact ?? null,
  };
}
