import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { FORMATS, formatRow } from '../../domain/formats.ts';
import { HEADERS_TOO_LARGE_STATUS, PROBLEM_MEDIA_TYPE, PROBLEMS } from '../response/problems.ts';
import { type HeaderFieldName, type HeaderFields, headersOf, optionalHeaders } from './header-fields.ts';
import { schemaRef } from './schemas.ts';

/*
 * The responses of each kind of endpoint, for the OpenAPI document. Loaded by `npm run docs` only.
 */

const LOOKED_UP_FIELDS = ['Cache-Control', 'ETag', 'Cache-Status'] as const;

/** A response of one status. */
export interface ResponseSchema {
  readonly description: string;
  readonly headers: HeaderFields;
  /** By media type. */
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** A 200 of one endpoint and its 304. */
interface Success {
  readonly 200: ResponseSchema;
  readonly 304: ResponseSchema;
}

interface SuccessParts {
  /** Of both. */
  readonly fields: readonly HeaderFieldName[];
  /** Of the 200 alone. */
  readonly bodyFields?: readonly HeaderFieldName[];
  /** Of some forms of both. */
  readonly optionalFields?: readonly HeaderFieldName[];
  /** By media type. */
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

function success(what: string, { fields, bodyFields = [], optionalFields = [], content }: SuccessParts): Success {
  const some = optionalHeaders(...optionalFields);
  // A 304 has no fields that describe the body.
  const ofUnchanged = optionalHeaders(...optionalFields.filter((name) => !name.startsWith('Content-')));
  return {
    200: { description: `The ${what}.`, headers: { ...headersOf(...fields, ...bodyFields), ...some }, content },
    304: { description: `The ${what} has not changed.`, headers: { ...headersOf(...fields), ...ofUnchanged } },
  };
}

function json(schema: object): SuccessParts['content'] {
  return { 'application/json': { schema } };
}

const BYTES = { schema: { type: 'string', format: 'binary' } };

export const CHANNEL_RECORD = success('record', {
  content: json({ $ref: schemaRef('ChannelRecord') }),
  fields: LOOKED_UP_FIELDS,
});

export const CHANNEL_BATCH = success('batch', {
  content: json({ $ref: schemaRef('ChannelBatch') }),
  fields: LOOKED_UP_FIELDS,
});

export const BADGE = success('badge', { content: json({ $ref: schemaRef('Badge') }), fields: LOOKED_UP_FIELDS });

export const SEARCH_RESULTS = success('result', {
  content: json({ $ref: schemaRef('SearchResults') }),
  fields: LOOKED_UP_FIELDS,
});

const PICTURES = Object.fromEntries(FORMATS.map((format) => [formatRow(format).mediaType, BYTES]));

/** At `/@handle`, for a client that accepts JSON and no picture. */
export const PICTURE_OR_RECORD = success('picture, or the record', {
  content: { ...PICTURES, ...json({ $ref: schemaRef('ChannelRecord') }) },
  fields: [...LOOKED_UP_FIELDS, 'Vary'],
  optionalFields: ['Last-Modified', 'Content-Disposition'],
});

export const PICTURE = success('picture', {
  content: PICTURES,
  fields: [...LOOKED_UP_FIELDS, 'Last-Modified', 'Vary'],
  bodyFields: ['Content-Disposition'],
});

export const JSON_DOCUMENT = success('document', {
  content: json({ type: 'object' }),
  fields: ['Cache-Control', 'ETag'],
});

export const ICON = success('icon', { content: { 'image/png': BYTES }, fields: ['Cache-Control', 'ETag'] });

/** The errors of any path, before the first look-up. */
const REQUEST_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'method_not_allowed',
  'request_timeout',
  'request_too_large',
  'expectation_failed',
  'rate_limited',
  'internal',
];

/** The errors of paths that ask sources. */
export const SOURCE_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'upstream_invalid',
  'upstream_unavailable',
  'upstream_timeout',
];

/** The errors of paths that name a channel. Some identifiers also make it a path without an endpoint. */
export const CHANNEL_ERRORS: readonly ErrorCode[] = [
  ...SOURCE_ERRORS,
  'route_not_found',
  'channel_not_found',
  'channel_blocked',
];

export const PICTURE_ERRORS: readonly ErrorCode[] = [...CHANNEL_ERRORS, 'image_not_found', 'overloaded'];

/** An endpoint's responses: its own, the errors of any path, and these errors. */
export function responsesOf(own: Success, errors: readonly ErrorCode[] = []): Record<string, ResponseSchema> {
  return { ...own, ...problemResponses([...REQUEST_ERRORS, ...errors]) };
}

/** The responses to OPTIONS. A path with parameters may have no endpoint. */
export function preflightResponses(hasParameters: boolean): Record<string, ResponseSchema> {
  const headers = headersOf(
    'Allow',
    'Access-Control-Allow-Methods',
    'Access-Control-Allow-Headers',
    'Access-Control-Max-Age',
  );
  const ofPath: ErrorCode[] = hasParameters ? ['invalid_parameter', 'route_not_found'] : [];
  return {
    204: { description: 'The methods and fields that a browser may use.', headers },
    ...problemResponses([...REQUEST_ERRORS, ...ofPath]),
  };
}

function problemResponses(codes: readonly ErrorCode[]): Record<string, ResponseSchema> {
  const byStatus = new Map<number, ErrorCode[]>([[HEADERS_TOO_LARGE_STATUS, ['request_too_large']]]);
  for (const code of ERROR_CODES.filter((one) => codes.includes(one))) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, problemResponseOf(status, some)]));
}

function problemResponseOf(status: number, codes: readonly ErrorCode[]): ResponseSchema {
  const fields: HeaderFieldName[] = ['Cache-Control', 'Cache-Status', 'Vary'];
  if (codes.some((code) => 'retryAfterSeconds' in PROBLEMS[code])) fields.push('Retry-After');
  if (status === 405) fields.push('Allow');
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].description}`).join(' '),
    headers: headersOf(...fields),
    content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: schemaRef('Problem') } } },
  };
}
