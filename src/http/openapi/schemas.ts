import { ERROR_CODES } from '../../domain/errors.ts';
import { VARIANTS, variantRow } from '../../domain/variants.ts';

/*
 * The schemas of JSON in responses, for the OpenAPI document.
 */

/** An object that always has all of these properties. */
function object(description: string, properties: Readonly<Record<string, object>>) {
  return { description, type: 'object' as const, required: Object.keys(properties), properties };
}

function list(description: string, items: object) {
  return { type: 'array', description, items };
}

function nullable(schema: { readonly type: string }) {
  return { ...schema, type: [schema.type, 'null'] };
}

function text(description: string, more: { readonly pattern?: string; readonly format?: string } = {}) {
  return { type: 'string', ...more, description };
}

function count(description: string) {
  return nullable(text(`${description}.`, { pattern: '^\\d+$' }));
}

function imageUrl(description: string) {
  return nullable(text(`${description}.`, { format: 'uri' }));
}

/** A reference to one of `COMPONENT_SCHEMAS`. */
export function schemaOf(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

const CHANNEL_ID = text('The channel ID.', { pattern: '^UC[A-Za-z0-9_-]{22}$' });
const HANDLE = nullable(text('The handle with its @, in the owner’s letter case.'));
const REQUESTED_IDENTIFIER = text('The identifier as it is in the request.');

const VARIANT_URLS = Object.fromEntries(
  VARIANTS.map((variant) => [variant, imageUrl(variantRow(variant).description)]),
);

/** The named schemas that responses refer to. */
export const COMPONENT_SCHEMAS = {
  ErrorCode: { type: 'string', enum: ERROR_CODES, description: 'The error code.' },
  ChannelRecord: object(
    'A channel. Every field is always there. null means unknown or hidden; for a URL, that the channel has no such image. Counts are decimal integers.',
    {
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
      bannerUrl: imageUrl('The default banner'),
      avatarUrl: imageUrl('The avatar'),
      bannerUrls: object('URLs of all images on this service.', VARIANT_URLS),
      links: list(
        'The channel’s links; empty if there are none or they are unknown.',
        object('A link.', {
          title: text('The name of the linked site.'),
          url: text('An absolute http or https URL, without the source’s redirect.', { format: 'uri' }),
        }),
      ),
    },
  ),
  ChannelBatch: object('The requested channels.', {
    results: list('One for each identifier, in the order of the request.', {
      anyOf: [schemaOf('BatchRecord'), schemaOf('BatchError')],
    }),
  }),
  BatchRecord: object('A channel of a batch.', {
    identifier: REQUESTED_IDENTIFIER,
    channel: schemaOf('ChannelRecord'),
  }),
  BatchError: object('A channel of a batch for which there is no record.', {
    identifier: REQUESTED_IDENTIFIER,
    error: object('The error.', {
      status: { type: 'integer', description: 'The status of a request for this channel alone.' },
      code: schemaOf('ErrorCode'),
      detail: text('What is wrong and how to correct it.'),
    }),
  }),
  Badge: object('An endpoint badge of shields.io.', {
    schemaVersion: { type: 'integer', enum: [1], description: 'Always 1.' },
    label: text('The left part: the metric.'),
    message: text('The right part: the count in short, or "hidden" if it is hidden or unknown.'),
    color: text('The color of the right part.'),
    isError: { type: 'boolean', description: 'Always false: an error has another status.' },
    cacheSeconds: { type: 'integer', minimum: 300, description: 'How long shields.io may keep the badge.' },
  }),
  RetiredBadge: object('A badge as JSON, as shields.io returned it.', {
    label: text('The left part: `label`, or the metric.'),
    message: text('The right part: the count in short, or "hidden" if it is hidden or unknown.'),
    color: text('The color of the right part: `color`, or the color of the badge.'),
    link: list('The address of the channel’s page.', text('An address.', { format: 'uri' })),
    name: text('The same as `label`.'),
    value: text('The same as `message`.'),
  }),
  SearchResults: object('The channels that match a text.', {
    query: text('`q` without surrounding blanks.'),
    results: list('Best first; empty if nothing matches.', schemaOf('SearchResult')),
  }),
  SearchResult: object(
    'A channel in search results. null means unknown or hidden; for a URL, that the channel is known to have no such image.',
    {
      channelId: CHANNEL_ID,
      title: text('The channel’s name.'),
      description: nullable(text('The channel’s own description; the source may shorten it.')),
      customUrl: HANDLE,
      subscriberCount: count('Subscribers'),
      videoCount: count('Public videos'),
      bannerUrl: imageUrl('The default banner'),
      avatarUrl: imageUrl('The avatar'),
    },
  ),
  Problem: object('An error (RFC 9457).', {
    type: text('The code as a URL. `/problems` lists all codes.', { format: 'uri-reference' }),
    title: text('The meaning of the code.'),
    status: { type: 'integer', description: 'The status of the response.' },
    detail: text('What is wrong with this request and how to correct it.'),
    code: schemaOf('ErrorCode'),
    requestId: text('The same as `X-Request-Id`.'),
  }),
};
