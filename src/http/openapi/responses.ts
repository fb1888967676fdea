import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { HEADERS_TOO_LARGE_STATUS, PROBLEM_MEDIA_TYPE, PROBLEMS } from '../response/problems.ts';
import { type HeaderFieldName, type HeaderFields, headersOf, optionalHeaders } from './header-fields.ts';
import { schemaOf } from './schemas.ts';

/*
 * The responses of each kind of endpoint, for the OpenAPI document. Loaded by `npm run docs` only.
 */

/** A response of one status. */
export interface ResponseSchema {
  readonly description: string;
  readonly headers: HeaderFields;
  /** By media type. */
  readonly content?: Content;
}

type Content = Readonly<Record<string, { readonly schema: object }>>;
/** By status. */
export type Responses = Readonly<Record<string, ResponseSchema>>;

interface SuccessFields {
  /** Of the 200 and the 304. */
  readonly fields: readonly HeaderFieldName[];
  /** Fields of the 200 only. */
  readonly bodyFields?: readonly HeaderFieldName[];
  /** Fields that both have in some forms. */
  readonly optionalFields?: readonly HeaderFieldName[];
}

/** The 200 of an endpoint and its 304, which has no fields that describe the body. */
export function success(what: string, content: Content, options: SuccessFields): Responses {
  const { fields, bodyFields = [], optionalFields = [] } = options;
  const ofUnchanged = optionalFields.filter((name) => !name.startsWith('Content-'));
  return {
    200: {
      description: `The ${what}.`,
      headers: { ...headersOf(...fields, ...bodyFields), ...optionalHeaders(optionalFields) },
      content,
    },
    304: {
      description: `The ${what} has not changed.`,
      headers: { ...headersOf(...fields), ...optionalHeaders(ofUnchanged) },
    },
  };
}

export const DOCUMENT_FIELDS: readonly HeaderFieldName[] = ['Cache-Control', 'ETag'];
export const LOOKED_UP_FIELDS: readonly HeaderFieldName[] = [...DOCUMENT_FIELDS, 'Cache-Status'];

/** JSON that is looked up, with one of the named schemas. */
export function lookedUp(what: string, schemaName: string): Responses {
  return success(what, { 'application/json': { schema: schemaOf(schemaName) } }, { fields: LOOKED_UP_FIELDS });
}

/** The errors of any path, before the first lookup. */
const REQUEST_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'method_not_allowed',
  'request_timeout',
  'request_too_large',
  'expectation_failed',
  'rate_limited',
  'internal',
];

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

export const PICTURE_ERRORS: readonly ErrorCode[] = [...CHANNEL_ERRORS, 'image_not_found', 'overloaded'];

/** An endpoint's responses: its own, the errors of any path, and these errors. */
export function responsesOf(own: Responses, errors: readonly ErrorCode[] = []): Responses {
  const byStatus = new Map<number, ErrorCode[]>([[HEADERS_TOO_LARGE_STATUS, ['request_too_large']]]);
  for (const code of ERROR_CODES.filter((one) => REQUEST_ERRORS.includes(one) || errors.includes(one))) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const problems = [...byStatus].map(([status, codes]) => [status, problemOf(status, codes)]);
  return { ...own, ...Object.fromEntries(problems) };
}

/** The responses to OPTIONS. A path with parameters may have no endpoint. */
export function preflightResponses(hasParameters: boolean): Responses {
  const headers = headersOf(
    'Allow',
    'Access-Control-Allow-Methods',
    'Access-Control-Allow-Headers',
    'Access-Control-Max-Age',
  );
  const own = { 204: { description: 'The methods and fields that a browser may use.', headers } };
  return responsesOf(own, hasParameters ? ['invalid_parameter', 'route_not_found'] : []);
}

function problemOf(status: number, codes: readonly ErrorCode[]): ResponseSchema {
  const fields: HeaderFieldName[] = ['Cache-Control', 'Cache-Status', 'Vary'];
  if (codes.some((code) => 'retryAfterSeconds' in PROBLEMS[code])) fields.push('Retry-After');
  if (status === 405) fields.push('Allow');
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].description}`).join(' '),
    headers: headersOf(...fields),
    content: { [PROBLEM_MEDIA_TYPE]: { schema: schemaOf('Problem') } },
  };
}
