import { readFileSync } from 'node:fs';
import { FORMATS } from '../../domain/formats.ts';
import type { Endpoint, HttpResponse } from '../request/context.ts';
import { listProblems } from '../response/problems.ts';
import { entityTag } from '../response/response.ts';
import { JSON_MEDIA_TYPE } from '../response/serializers.ts';

interface DocumentRouteOptions {
  /** Contact address of the operator. */
  readonly contact: string | undefined;
  readonly defaultLimit: { readonly requests: number; readonly windowMs: number };
  /** The URL of the files of `site/`, with a slash at the end. */
  readonly siteUrl: string | undefined;
  readonly version: string;
}

/** The index, the list of problems, the OpenAPI document and the icon. */
export function documentRoutes(options: DocumentRouteOptions): Endpoint[] {
  const icon = readFileSync(new URL('../favicon.png', import.meta.url));
  return [
    json('/', (base) => indexOf(base, options)),
    json('/problems', (base) => ({ problems: listProblems(base) })),
    json('/openapi.json', (base) => ({ ...readOpenApi(options), servers: [{ url: base }] })),
    { url: '/favicon.ico', respond: () => unchanging('image/png', icon) },
  ];
}

/** Indented, because users open these documents in a browser or a terminal. */
function json(url: string, contentOf: (base: string) => object): Endpoint {
  const write = (base: string) => `${JSON.stringify(contentOf(base), null, 2)}\n`;
  return { url, respond: (_path, { base }) => unchanging(JSON_MEDIA_TYPE, write(base)) };
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

const EXAMPLE_ID = 'UCPennantSample00000001A';
const PICTURE = 'A banner crop or the avatar: default, tv, desktop, tablet, mobile, avatar.';
const PICTURE_PARAMETERS = `?type={variant}&format=${FORMATS.join('|')}&width=&height=&quality=`;
const BADGE = 'A count of the channel for a shields.io badge.';

const ENDPOINTS: readonly (readonly [path: string, description: string, example: string])[] = [
  [
    '/api/channel/{identifier}?type=id|handle|username',
    'The channel’s record as JSON.',
    '/api/channel/pennantsample?type=handle',
  ],
  [
    '/api/channels?ids={id},@{handle},…',
    'The records of up to 50 channels.',
    `/api/channels?ids=${EXAMPLE_ID},@lanternhours`,
  ],
  [`/api/banner/{identifier}${PICTURE_PARAMETERS}`, PICTURE, `/api/banner/${EXAMPLE_ID}?type=tv`],
  ['/{identifier}/{variant}[.{format}]', PICTURE, `/${EXAMPLE_ID}/avatar.webp`],
  ['/api/search?q={text}&limit=1–50', 'Channels that match a text.', '/api/search?q=pennant'],
  ['/api/badge/{identifier}?metric=subscribers|views|videos', BADGE, `/api/badge/${EXAMPLE_ID}`],
  ['/channel/{id}, /c/{name}, /user/{name}', 'The record at a channel page’s path.', `/channel/${EXAMPLE_ID}`],
];

function indexOf(base: string, { contact, defaultLimit, siteUrl, version }: DocumentRouteOptions): object {
  return {
    name: 'Pennant',
    version,
    description: 'A video channel’s metadata as JSON, its banner and avatar as images. No key, no login.',
    endpoints: ENDPOINTS.map(([path, description, example]) => ({ path, description, example: base + example })),
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
