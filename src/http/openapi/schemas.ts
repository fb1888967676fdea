import { ERROR_CODES } from '../../domain/errors.ts';

/*
 * The schemas of JSON in responses, for the OpenAPI document. Loaded by `npm run docs` only.
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

export function schemaRef(name: SchemaName): string {
  return `#/components/schemas/${name}`;
}
