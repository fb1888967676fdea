import { readFileSync } from 'node:fs';
import { FORMATS } from '../../domain/formats.ts';
import { type ExampleChannel, type Examples, recordPathOf, searchPathOf } from '../../services/examples.ts';
import type { Endpoint, HttpResponse } from '../request/context.ts';
import { listProblems } from '../response/problems.ts';
import { entityTag } from '../response/response.ts';
import { JSON_MEDIA_TYPE } from '../response/serializers.ts';

interface DocumentRouteOptions {
  /** Contact address of the operator. */
  readonly contact: string | undefined;
  readonly defaultLimit: { readonly requests: number; readonly windowMs: number };
  /** The URL of the files of `dist/site/`, with a slash at the end. */
  readonly siteUrl: string | undefined;
  readonly version: string;
  readonly examples: Examples;
}

/** The index, the list of problems, the OpenAPI document and the icon. */
export function documentRoutes(options: DocumentRouteOptions): Endpoint[] {
  const icon = readFileSync(new URL('../favicon.png', import.meta.url));
  return [
    json('/', async (base) => indexOf(base, options, await options.examples())),
    json('/problems', (base) => ({ problems: listProblems(base) })),
    json('/openapi.json', (base) => ({ ...readOpenApi(options), servers: [{ url: base }] })),
    { url: '/favicon.ico', respond: () => unchanging('image/png', icon) },
  ];
}

/** Indented, because users open these documents in a browser or a terminal. */
function json(url: string, contentOf: (base: string) => object | Promise<object>): Endpoint {
  const write = async (base: string) => `${JSON.stringify(await contentOf(base), null, 2)}\n`;
  return { url, respond: async (_path, { base }) => unchanging(JSON_MEDIA_TYPE, await write(base)) };
}

function unchanging(contentType: string, body: string | Buffer): HttpResponse {
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=3600', etag: entityTag(body) };
  return { status: 200, headers, body };
}

/** The output of `npm run docs`. Read at the first request, because it is rarely requested. */
function readOpenApi({ contact, version }: DocumentRouteOptions): object {
  openApi ??= JSON.parse(readFileSync(new URL('../openapi/openapi.json', import.meta.url), 'utf8'));
  const { info, ...rest } = openApi as OpenApi;
  return { ...rest, info: { ...info, version, ...(contact !== undefined && { contact: { name: contact } }) } };
}

type OpenApi = { readonly info: object };
let openApi: OpenApi | undefined;

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
    exampleFor: (channel) => withVariant(channel, (variant) => `/api/banner/${channel.channelId}?type=${variant}`),
  },
  {
    path: '/{identifier}/{variant}[.{format}]',
    description: IMAGE,
    exampleFor: (channel) => withVariant(channel, (variant) => `/${channel.channelId}/${variant}.webp`),
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
    path: '/api/badge/{identifier}.svg?metric=&style=&label=&color=',
    description: 'The same count as the image of a badge.',
    exampleFor: ({ channelId }) => `/api/badge/${channelId}.svg`,
  },
  {
    path: '/channel/{id}, /c/{name}, /user/{name}',
    description: 'The record at a channel page’s path.',
    exampleFor: ({ channelId }) => `/channel/${channelId}`,
  },
];

function withVariant({ hasBanner, hasAvatar }: ExampleChannel, pathOf: (variant: string) => string) {
  return hasBanner ? pathOf('tv') : hasAvatar ? pathOf('avatar') : undefined;
}

function indexOf(
  base: string,
  { contact, defaultLimit, siteUrl, version }: DocumentRouteOptions,
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
    ...(siteUrl !== undefined && {
      playground: `${siteUrl}?instance=${encodeURIComponent(base)}`,
      documentation: `${siteUrl}api.html`,
    }),
    limits: {
      requests: defaultLimit.requests,
      seconds: defaultLimit.windowMs / 1000,
      per: 'client IP address (IPv6: network)',
      higherLimits: contact === undefined ? null : `on request: ${contact}`,
    },
    contact: contact ?? null,
  };
}
