import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { HEADERS_TOO_LARGE_STATUS, PROBLEM_MEDIA_TYPE, PROBLEMS } from '../response/problems.ts';
import { schemaOf } from './schemas.ts';

/*
 * The responses of each kind of endpoint and their header fields, for the OpenAPI document.
 */

/** A header field that every response that lists it has. */
function requiredField(description: string, example: string) {
  return { description, required: true, schema: { type: 'string', examples: [example] } };
}

function optionalField(description: string, example: string) {
  return { ...requiredField(description, example), required: false };
}

/** Fields of every response of the public listener. */
const COMMON_FIELDS = {
  'X-Request-Id': requiredField('The service’s ID of the request. The log has it too.', 'q3T1xKZ0fUvB-7'),
  'Access-Control-Allow-Origin': requiredField('Any page may read any response.', '*'),
  'Access-Control-Expose-Headers': requiredField(
    'The fields that scripts of a page may read.',
    'RateLimit, ETag, Retry-After',
  ),
  'Cross-Origin-Resource-Policy': requiredField('Any page may embed any response.', 'cross-origin'),
  'Timing-Allow-Origin': requiredField('Any page may measure any response.', '*'),
  'X-Content-Type-Options': requiredField('Browsers must not guess the media type.', 'nosniff'),
  'RateLimit-Policy': optionalField(
    'The client’s limit: `q` requests in any `w` seconds. Clients without a limit do not get this field and the next four.',
    '"default";q=10;w=30',
  ),
  RateLimit: optionalField(
    'Requests left after this one (`r`), and seconds until one more is free (`t`); draft-ietf-httpapi-ratelimit-headers.',
    '"default";r=9;t=30',
  ),
  'X-RateLimit-Limit': optionalField('Older form of `q`.', '10'),
  'X-RateLimit-Remaining': optionalField('Older form of `r`.', '9'),
  'X-RateLimit-Reset': optionalField('Older form of `t`.', '30'),
};

/** Every field that the service sets. Fields of HTTP itself (`Date`, `Content-Length`) are omitted. */
export const HEADER_FIELDS = {
  ...COMMON_FIELDS,
  'Cache-Control': requiredField('How long a cache may keep the response.', 'public, max-age=3600'),
  'Cache-Status': optionalField(
    'Whether the response came from the cache (RFC 9211): `hit`, or `fwd` with the reason for asking a source.',
    'pennant; hit; ttl=3412',
  ),
  ETag: requiredField('A strong validator for `If-None-Match`.', '"5d41402abc4b2a76"'),
  'Last-Modified': requiredField('When the image’s original was first stored here.', 'Thu, 01 Jan 2026 00:00:00 GMT'),
  'Content-Disposition': requiredField(
    'The name under which a browser saves the image.',
    'inline; filename="UCPennantSample00000001A-tv.avif"',
  ),
  'Content-Security-Policy': requiredField(
    'A badge that is opened as a page may neither run scripts nor load anything.',
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox",
  ),
  Vary: optionalField(
    'On responses whose format follows `Accept`: a cache must store one response per format.',
    'Accept',
  ),
  'Retry-After': requiredField('Seconds to wait before the next attempt.', '12'),
  Allow: requiredField('The methods that the service supports.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Methods': requiredField('The methods that a page may use.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Headers': requiredField('The fields that a page may send.', '*'),
  'Access-Control-Max-Age': requiredField('Seconds for which a browser may cache this.', '86400'),
};

type FieldName = keyof typeof HEADER_FIELDS;

/**
 * The `headers` of a response: the fields of every response, and these.
 *
 * @param optional fields that the response has only in some of its forms
 */
function headersOf(names: readonly FieldName[], optional: readonly FieldName[] = []): Record<string, object> {
  const all = [...Object.keys(COMMON_FIELDS), ...names];
  return {
    ...Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(optional.map((name) => [name, { ...HEADER_FIELDS[name], required: false }])),
  };
}

export interface ResponseSchema {
  readonly description: string;
  readonly headers: object;
  /** By media type. */
  readonly content?: object;
}

/** By status. */
export type Responses = Readonly<Record<string, ResponseSchema>>;

/** The 200 of an endpoint and its 304, which has no fields that describe the body. */
export function success(
  what: string,
  content: object,
  fields: readonly FieldName[],
  optionalFields?: readonly FieldName[],
): Responses {
  const headers = headersOf(fields, optionalFields);
  const ofUnchanged = Object.entries(headers).filter(([name]) => !name.startsWith('Content-'));
  return {
    200: { description: `The ${what}.`, headers, content },
    304: { description: `The ${what} has not changed.`, headers: Object.fromEntries(ofUnchanged) },
  };
}

export const DOCUMENT_FIELDS = ['Cache-Control', 'ETag'] as const;
export const LOOKED_UP_FIELDS = [...DOCUMENT_FIELDS, 'Cache-Status'] as const;

/** JSON that is looked up, with one of the named schemas. */
export function lookedUp(what: string, schemaName: string): Responses {
  return success(what, { 'application/json': { schema: schemaOf(schemaName) } }, LOOKED_UP_FIELDS);
}

/** The errors of paths that call sources. */
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

export const IMAGE_ERRORS: readonly ErrorCode[] = [...CHANNEL_ERRORS, 'image_not_found', 'overloaded'];

/** The errors of any path, before the first lookup: all others. */
const REQUEST_ERRORS = ERROR_CODES.filter((code) => !IMAGE_ERRORS.includes(code));

/** An endpoint's responses: its own, the errors of any path, and these errors. */
export function responsesOf(own: Responses, errors: readonly ErrorCode[] = []): Responses {
  const codes = ERROR_CODES.filter((code) => REQUEST_ERRORS.includes(code) || errors.includes(code));
  const byStatus = Object.groupBy(codes, (code) => PROBLEMS[code].status);
  const problems = Object.entries({ ...byStatus, [HEADERS_TOO_LARGE_STATUS]: ['request_too_large'] as const });
  return {
    ...own,
    ...Object.fromEntries(problems.map(([status, codesOfStatus = []]) => [status, problemOf(status, codesOfStatus)])),
  };
}

/** The responses to OPTIONS. A path with parameters may have no endpoint. */
export function preflightResponses(hasParameters: boolean): Responses {
  const headers = headersOf([
    'Allow',
    'Access-Control-Allow-Methods',
    'Access-Control-Allow-Headers',
    'Access-Control-Max-Age',
  ]);
  const own = { 204: { description: 'The methods and fields that a browser may use.', headers } };
  return responsesOf(own, hasParameters ? ['invalid_parameter', 'route_not_found'] : []);
}

function problemOf(status: string, codes: readonly ErrorCode[]): ResponseSchema {
  const fields: FieldName[] = ['Cache-Control', 'Cache-Status', 'Vary'];
  if (codes.some((code) => 'retryAfterSeconds' in PROBLEMS[code])) fields.push('Retry-After');
  if (status === '405') fields.push('Allow');
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].description}`).join(' '),
    headers: headersOf(fields),
    content: { [PROBLEM_MEDIA_TYPE]: { schema: schemaOf('Problem') } },
  };
}
