import { FORMATS, formatRow } from '../../domain/formats.ts';
import { PROBLEM_MEDIA_TYPE } from '../response/fields.ts';
import { schemaOf } from './schemas.ts';

/*
 * The responses and header fields of the OpenAPI document.
 */

/** A header field that every response that lists it has. */
function requiredField(description: string, example: string) {
  return { description, required: true, schema: { type: 'string', examples: [example] } };
}

function optionalField(description: string, example: string) {
  return { ...requiredField(description, example), required: false };
}

/** Fields of some responses. Fields of HTTP itself (`Date`, `Content-Length`) are omitted. */
export const OTHER_FIELDS = {
  'Cache-Control': requiredField('How long a cache may keep the response.', 'public, max-age=3600'),
  'Cache-Status': optionalField(
    'Whether the response came from the cache (RFC 9211): `hit`, or `fwd` with the reason for asking a source.',
    'pennant; hit; ttl=3412',
  ),
  ETag: requiredField('A strong validator for `If-None-Match`.', '"5d41402abc4b2a76"'),
  'Last-Modified': optionalField('When the image’s original was first stored here.', 'Thu, 01 Jan 2026 00:00:00 GMT'),
  'Content-Disposition': optionalField(
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
  'Retry-After': optionalField('Seconds to wait before the next attempt.', '12'),
  Allow: optionalField('The methods that the service supports.', 'GET, HEAD, OPTIONS'),
};

type FieldName = keyof typeof OTHER_FIELDS;

function response(description: string, content: object | undefined, names: readonly FieldName[]) {
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  return { description, headers, content };
}

const BYTES = { schema: { type: 'string', format: 'binary' } };
const IMAGES = Object.fromEntries(FORMATS.map((format) => [formatRow(format).mediaType, BYTES]));
const RECORD = { 'application/json': { schema: schemaOf('ChannelRecord') } };

const DOCUMENT_FIELDS = ['Cache-Control', 'ETag'] as const;
const LOOKED_UP_FIELDS = [...DOCUMENT_FIELDS, 'Cache-Status'] as const;
const IMAGE_FIELDS = [...LOOKED_UP_FIELDS, 'Last-Modified', 'Content-Disposition', 'Vary'] as const;

function lookedUp(what: string, schemaName: string) {
  return response(`The ${what}.`, { 'application/json': { schema: schemaOf(schemaName) } }, LOOKED_UP_FIELDS);
}

/** What endpoints return. Generators make types and files of these names. */
export const RESPONSES = {
  Document: response('The document.', { 'application/json': { schema: { type: 'object' } } }, DOCUMENT_FIELDS),
  Icon: response('The icon.', { 'image/png': BYTES }, DOCUMENT_FIELDS),
  Record: lookedUp('record', 'ChannelRecord'),
  Batch: lookedUp('records', 'ChannelBatch'),
  Results: lookedUp('results', 'SearchResults'),
  Badge: lookedUp('badge', 'Badge'),
  RetiredBadge: lookedUp('badge', 'RetiredBadge'),
  BadgeImage: response('The badge.', { 'image/svg+xml': { schema: { type: 'string' } } }, [
    ...LOOKED_UP_FIELDS,
    'Content-Security-Policy',
  ]),
  Image: response('The image.', IMAGES, IMAGE_FIELDS),
  ImageOrRecord: response('The image, or the record.', { ...IMAGES, ...RECORD }, IMAGE_FIELDS),
} as const;

export type ResponseName = keyof typeof RESPONSES;

const PROBLEM = { [PROBLEM_MEDIA_TYPE]: { schema: schemaOf('Problem') } };
const PROBLEM_FIELDS = ['Cache-Control', 'Cache-Status', 'Vary', 'Retry-After'] as const;

/** Responses of every endpoint. */
export const SHARED_RESPONSES = {
  NotModified: response('The client’s copy has not changed.', undefined, IMAGE_FIELDS),
  ClientError: response('The request is refused, or there is nothing: `code` says why.', PROBLEM, [
    ...PROBLEM_FIELDS,
    'Allow',
  ]),
  ServerError: response('The service or a source failed: `code` says why.', PROBLEM, PROBLEM_FIELDS),
} as const;
