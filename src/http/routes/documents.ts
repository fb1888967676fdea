import { readFileSync } from 'node:fs';
import { FORMATS } from '../../domain/formats.ts';
import { type ExampleChannel, type Examples, recordPathOf, searchPathOf } from '../../services/examples.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { Endpoint, PublicResponse } from '../request/context.ts';
import { entityTag } from '../response/conditions.ts';
import { listProblems } from '../response/problems.ts';
import { JSON_MEDIA_TYPE } from '../response/serializers.ts';

interface DocumentRouteOptions {
  /** Contact address of the operator. */
  readonly contact: string | undefined;
  readonly defaultLimit: { readonly requests: number; readonly windowMs: number };
  readonly version: string;
  readonly examples: Examples;
}

/** The index, the list of problems, the OpenAPI document and the icon. */
export function documentRoutes(options: DocumentRouteOptions): Endpoint[] {
  const icon = readFileSync(new URL('../favicon.png', import.meta.url));
  const iconTag = entityTag(icon);
  return [
    jsonDocument('/', async (base) => indexDocument(base, options, await options.examples())),
    jsonDocument('/problems', (base) => ({ problems: listProblems(base) })),
    openApiRoute(options),
    { url: '/favicon.ico', respond: () => documentResponse('image/png', icon, iconTag) },
  ];
}

/** Indented, because users open these documents in a browser or a terminal. */
function indented(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function jsonDocument(url: string, contentOf: (base: string) => object | Promise<object>): Endpoint {
  return {
    url,
    async respond(_path, { base }) {
      const body = indented(await contentOf(base));
      return documentResponse(JSON_MEDIA_TYPE, body, entityTag(body));
    },
  };
}

function documentResponse(contentType: string, body: string | Buffer, etag: string): PublicResponse {
  return { status: 200, headers: { 'content-type': contentType, 'cache-control': 'public, max-age=3600', etag }, body };
}

const SERVER = 'the base of the request';

function createTemplate(text: string) {
  return { text, etag: entityTag(text) };
}

/**
 * The OpenAPI document. Serializing its 190 KB takes milliseconds, and without `BASE_URL` each client can choose another base.
 * So it is serialized once, at the first request, and the base is filled in.
 */
function openApiRoute(options: DocumentRouteOptions): Endpoint {
  let template: ReturnType<typeof createTemplate> | undefined;
  return {
    url: '/openapi.json',
    respond(_path, { base }) {
      template ??= createTemplate(indented(openApiDocument(options, SERVER)));
      const body = template.text.replace(JSON.stringify(SERVER), () => JSON.stringify(base));
      return documentResponse(JSON_MEDIA_TYPE, body, entityTag(`${template.etag} ${base}`));
    },
  };
}

const IMAGE = 'A banner crop or the avatar: default, tv, desktop, tablet, mobile, avatar.';
const IMAGE_PARAMETERS = `?type={variant}&format=${FORMATS.join('|')}&width=&height=&quality=`;

interface IndexEntry {
  readonly path: string;
  readonly description: string;
  /** `undefined` if the channel has nothing to show. */
  readonly exampleFor: (channel: ExampleChannel) => string | undefined;
}

const ENDPOINTS: readonly IndexEntry[] = [
  {
    path: '/api/channel/{identifier}?type=id|handle|username',
    description: 'The channel’s record as JSON.',
    exampleFor: recordPathOf,
  },
  {
    path: '/api/channels?ids={id},@{handle},…',
    description: 'The records of up to 50 channels.',
    exampleFor: ({ channelId, handle }) =>
      `/api/channels?ids=${channelId}${handle === null ? '' : `,${encodeURI(handle)}`}`,
  },
  {
    path: `/api/banner/{identifier}${IMAGE_PARAMETERS}`,
    description: IMAGE,
    exampleFor: (channel) => imageExample(channel, (variant) => `/api/banner/${channel.channelId}?type=${variant}`),
  },
  {
    path: '/{identifier}/{variant}[.{format}]',
    description: IMAGE,
    exampleFor: (channel) => imageExample(channel, (variant) => `/${channel.channelId}/${variant}.webp`),
  },
  {
    path: '/api/search?q={text}&limit=1–50',
    description: 'Channels that match a text.',
    exampleFor: searchPathOf,
  },
  {
    path: '/api/badge/{identifier}?metric=subscribers|views|videos',
    description: 'A count of the channel as JSON for a shields.io badge.',
    exampleFor: ({ channelId }) => `/api/badge/${channelId}`,
  },
  {
    path: '/api/badge/{identifier}.svg?metric=&style=&label=&color=&labelColor=&logo=&logoColor=',
    description: 'The same count as the image of a badge.',
    exampleFor: ({ channelId }) => `/api/badge/${channelId}.svg`,
  },
  {
    path: '/youtube/channel/subscribers/{identifier}, /youtube/channel/views/{identifier}',
    description: 'The image at the path that the badge had at shields.io.',
    exampleFor: ({ channelId }) => `/youtube/channel/subscribers/${channelId}`,
  },
  {
    path: '/channel/{id}, /c/{name}, /user/{name}',
    description: 'The record at a channel page’s path.',
    exampleFor: ({ channelId }) => `/channel/${channelId}`,
  },
];

function imageExample({ hasBanner, hasAvatar }: ExampleChannel, pathOf: (variant: string) => string) {
  return hasBanner ? pathOf('tv') : hasAvatar ? pathOf('avatar') : undefined;
}

function indexDocument(
  base: string,
  { contact, defaultLimit, version }: DocumentRouteOptions,
  [channel]: readonly ExampleChannel[],
): object {
  return {
    name: 'Pennant',
    version,
    description: 'A video channel’s metadata as JSON, its banner and avatar as images. No key, no login.',
    endpoints: ENDPOINTS.map(({ path, description, exampleFor }) => {
      const example = channel && exampleFor(channel);
      return { path, description, ...(example !== undefined && { example: base + example }) };
    }),
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
