import { ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';
import { FORMATS, formatRow } from '../../domain/formats.ts';
import { HEADERS_TOO_LARGE_STATUS, PROBLEM_MEDIA_TYPE, PROBLEMS } from '../response/problems.ts';
import { type HeaderFieldName, type HeaderFields, headersOf, optionalHeaders } from './header-fields.ts';

/*
 * The schemas of the OpenAPI document. Loaded by `npm run docs` only.
 */

/** The JSON Schema of an object that always has all of these properties. */
function completeObject(properties: Readonly<Record<string, object>>) {
  return { type: 'object' as const, required: Object.keys(properties), properties };
}

function nullable(schema: object) {
  return { anyOf: [schema, { type: 'null' }] };
}

function text(description: string, more: { readonly pattern?: string; readonly format?: string } = {}) {
  return { type: 'string', ...more, description };
}

function count(description: string) {
  return nullable(text(`${description}; a decimal integer.`, { pattern: '^\\d+$' }));
}

function pictureUrl(description: string) {
  return nullable(text(`${description}; null: the channel has none.`, { format: 'uri' }));
}

function described(description: string, properties: Readonly<Record<string, object>>) {
  return { description, ...completeObject(properties) };
}

const CHANNEL_ID = text('The channel ID.', { pattern: '^UC[A-Za-z0-9_-]{22}$' });
const HANDLE = nullable(text('The handle with its leading @, in the letter case that its owner chose.'));

const CHANNEL_RECORD_SCHEMA = described('A channel. Every field is always there; null means unknown or hidden.', {
  channelId: CHANNEL_ID,
  title: text('The channel’s name.'),
  description: nullable(text('The channel’s own description; may be empty.')),
  customUrl: HANDLE,
  publishedAt: nullable(
    text('When the channel was created, in UTC. T00:00:00Z if only the day is known.', { format: 'date-time' }),
  ),
  country: nullable(text('ISO 3166-1 alpha-2.', { pattern: '^[A-Z]{2}$' })),
  subscriberCount: count('Subscribers'),
  viewCount: count('Views of all videos'),
  videoCount: count('Public videos'),
  bannerUrl: pictureUrl('The default banner on this service'),
  avatarUrl: pictureUrl('The avatar on this service'),
  bannerUrls: described('URLs of all pictures on this service.', {
    default: pictureUrl('The default banner'),
    tv: pictureUrl('The whole banner'),
    desktop: pictureUrl('The part that desktops show'),
    tablet: pictureUrl('The part that tablets show'),
    mobile: pictureUrl('The part that phones show'),
    avatar: pictureUrl('The avatar'),
  }),
  links: {
    type: 'array',
    description: 'The channel’s links; empty if there are none or they are unknown.',
    items: described('A link.', {
      title: text('The name of the linked site.'),
      url: text('http or https, without the source’s redirector.', { format: 'uri' }),
    }),
  },
});

const REQUESTED_IDENTIFIER = text('The identifier as it is in the request.');

const BATCH_RECORD_SCHEMA = described('A channel of a batch.', {
  identifier: REQUESTED_IDENTIFIER,
  channel: { $ref: schemaRef('ChannelRecord') },
});

const BATCH_ERROR_SCHEMA = described('A channel of a batch for which there is no record.', {
  identifier: REQUESTED_IDENTIFIER,
  error: described('The error.', {
    status: { type: 'integer', description: 'The status that a request for this channel alone would have.' },
    code: { type: 'string', enum: ERROR_CODES, description: 'The error code.' },
    detail: text('What is wrong and how to correct it.'),
  }),
});

const CHANNEL_BATCH_SCHEMA = described('The requested channels.', {
  results: {
    type: 'array',
    description: 'One for each identifier, in the order of the request.',
    items: { anyOf: [{ $ref: schemaRef('BatchRecord') }, { $ref: schemaRef('BatchError') }] },
  },
});

const BADGE_SCHEMA = described('An endpoint badge of shields.io.', {
  schemaVersion: { type: 'integer', enum: [1], description: 'Always 1.' },
  label: text('The left part: the metric.'),
  message: text('The right part: the count in short, or "hidden" if it is hidden or unknown.'),
  color: text('The colour of the right part.'),
  isError: { type: 'boolean', description: 'Always false: an error has another status.' },
  cacheSeconds: { type: 'integer', minimum: 300, description: 'How long shields.io may keep the badge.' },
});

const SEARCH_RESULT_SCHEMA = described('A channel in search results; null means unknown or hidden.', {
  channelId: CHANNEL_ID,
  title: text('The channel’s name.'),
  description: nullable(text('The channel’s own description; the source may shorten it.')),
  customUrl: HANDLE,
  subscriberCount: count('Subscribers'),
  videoCount: count('Public videos'),
  bannerUrl: pictureUrl('URL of the default banner, also if the source does not say whether there is one'),
  avatarUrl: pictureUrl('URL of the avatar, also if the source does not say whether there is one'),
});

const SEARCH_RESULTS_SCHEMA = described('The channels that match a text.', {
  query: text('`q` without surrounding blanks.'),
  results: {
    type: 'array',
    description: 'Best first; empty if nothing matches.',
    items: { $ref: schemaRef('SearchResult') },
  },
});

const PROBLEM_SCHEMA = described('An error (RFC 9457).', {
  type: text('The code as a URL. `/problems` lists all codes.', { format: 'uri-reference' }),
  title: text('The meaning of the code.'),
  status: { type: 'integer', description: 'The status of the response.' },
  detail: text('What is wrong with this request and how to correct it.'),
  code: { type: 'string', enum: ERROR_CODES, description: 'The error code.' },
  requestId: text('The same as `X-Request-Id`.'),
});

/** The named schemas that responses refer to. */
export const COMPONENT_SCHEMAS: Readonly<Record<SchemaName, object>> = {
  ChannelRecord: CHANNEL_RECORD_SCHEMA,
  ChannelBatch: CHANNEL_BATCH_SCHEMA,
  BatchRecord: BATCH_RECORD_SCHEMA,
  BatchError: BATCH_ERROR_SCHEMA,
  Badge: BADGE_SCHEMA,
  SearchResults: SEARCH_RESULTS_SCHEMA,
  SearchResult: SEARCH_RESULT_SCHEMA,
  Problem: PROBLEM_SCHEMA,
};

type SchemaName =
  | 'ChannelRecord'
  | 'ChannelBatch'
  | 'BatchRecord'
  | 'BatchError'
  | 'Badge'
  | 'SearchResults'
  | 'SearchResult'
  | 'Problem';

function schemaRef(name: SchemaName): string {
  return `#/components/schemas/${name}`;
}

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
