import { readFileSync } from 'node:fs';
import type { Examples } from '../../channels/examples.ts';
import type { ExampleChannel } from '../../domain/channel.ts';
import type { RateLimit } from '../../rate-limit/limiter.ts';
import { type OpenApiOptions, openApiDocument, pathOf, SUMMARY } from '../openapi/document.ts';
import type { Endpoint, PublicResponse } from '../request/context.ts';
import { taggedResponse } from '../response/conditions.ts';
import { JSON_MEDIA_TYPE } from '../response/fields.ts';
import { listProblems } from '../response/problems.ts';

interface DocumentRouteOptions extends OpenApiOptions {
  readonly defaultLimit: RateLimit;
  readonly examples: Examples;
}

/** All endpoints: the given ones, and the index, the list of problems, the OpenAPI document and the icon. */
export function withDocuments(options: DocumentRouteOptions): readonly Endpoint[] {
  const icon = readFileSync(new URL('../favicon.png', import.meta.url));
  const all: readonly Endpoint[] = [
    ...options.endpoints,
    {
      url: '/',
      id: 'Index',
      tag: 'service',
      summary: 'Index of the service',
      description: 'The index has the endpoints with examples, the limits and the operator’s contact.',
      returns: 'Document',
      respond: async (_request, { base }) =>
        jsonDocument(indexDocument(base, { ...options, endpoints: all }, await options.examples())),
    },
    {
      url: '/problems',
      id: 'Problems',
      tag: 'service',
      summary: 'List of error codes',
      description: 'The list has every error code with its status and meaning.',
      returns: 'Document',
      respond: (_request, { base }) => jsonDocument({ problems: listProblems(base) }),
    },
    {
      url: '/openapi.json',
      id: 'OpenApi',
      tag: 'service',
      summary: 'OpenAPI 3.1 document',
      description: 'The document describes every path, parameter and response for programs.',
      returns: 'Document',
      respond: (_request, { base }) => jsonDocument(openApiDocument({ ...options, endpoints: all }, base)),
    },
    {
      url: '/favicon.ico',
      id: 'Icon',
      tag: 'service',
      summary: 'The service’s icon',
      description: 'Browsers request the icon with a page.',
      returns: 'Icon',
      respond: () => documentResponse('image/png', icon),
    },
  ];
  return all;
}

/** Indented JSON, because users open these documents in a browser or a terminal. */
function jsonDocument(content: object): PublicResponse {
  return documentResponse(JSON_MEDIA_TYPE, `${JSON.stringify(content, null, 2)}\n`);
}

function documentResponse(contentType: string, body: string | Buffer): PublicResponse {
  return taggedResponse({ 'content-type': contentType, 'cache-control': 'public, max-age=3600' }, body);
}

function indexDocument(
  base: string,
  { contact, defaultLimit, version, endpoints }: DocumentRouteOptions,
  [channel]: readonly ExampleChannel[],
): object {
  return {
    name: 'Pennant',
    version,
    description: SUMMARY,
    endpoints: endpoints
      .filter(({ tag }) => tag !== 'service')
      .map((endpoint) => {
        const example = channel && endpoint.example?.(channel);
        const path = `${pathOf(endpoint)}${queryOf(endpoint)}`;
        return { path, description: endpoint.summary, example: example && base + example };
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

/** The names of the parameters, as a URI template (RFC 6570): `{?type,format}`. */
function queryOf({ query = {} }: Endpoint): string {
  const names = Object.keys(query);
  return names.length === 0 ? '' : `{?${names.join(',')}}`;
}
