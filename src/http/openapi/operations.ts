import { FORMATS, formatRow } from '../../domain/formats.ts';
import {
  BADGE_QUERY,
  BATCH_QUERY,
  CHANNEL_QUERY,
  type Parameters,
  PICTURE_QUERY,
  SEARCH_QUERY,
} from '../request/target.ts';
import { EXTENSION_LIST } from '../routes/banners.ts';
import {
  CHANNEL_ERRORS,
  DOCUMENT_FIELDS,
  LOOKED_UP_FIELDS,
  lookedUp,
  PICTURE_ERRORS,
  type Responses,
  responsesOf,
  SOURCE_ERRORS,
  success,
} from './responses.ts';
import { schemaOf } from './schemas.ts';

export const TAGS = {
  channels: 'Metadata of channels as JSON, and the search for them.',
  pictures: 'Banners and avatars as images.',
  service: 'What this instance offers.',
} as const;

/** GET and HEAD of one path in the OpenAPI document. */
export interface OperationSchema {
  /** What the path returns, as part of a name. Generated clients call the operations `get…`, `head…` and `options…`. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** A few words. */
  readonly summary: string;
  /** Whole sentences. */
  readonly description: string;
  /** The meaning of each parameter in the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Parameters;
  readonly responses: Responses;
}

const BYTES = { schema: { type: 'string', format: 'binary' } };
const PICTURES = Object.fromEntries(FORMATS.map((format) => [formatRow(format).mediaType, BYTES]));

const DOCUMENT = {
  tag: 'service',
  responses: responsesOf(success('document', { 'application/json': { schema: { type: 'object' } } }, DOCUMENT_FIELDS)),
} as const;

const RECORD = {
  tag: 'channels',
  description:
    'Cached for an hour. For an ID that upstream redirects, the response is the record of the target channel.',
  responses: responsesOf(lookedUp('record', 'ChannelRecord'), CHANNEL_ERRORS),
} as const;

const PICTURE = success('picture', PICTURES, [...LOOKED_UP_FIELDS, 'Last-Modified', 'Vary', 'Content-Disposition']);
/** At `/@handle`, for a client that accepts JSON and no picture. */
const PICTURE_OR_RECORD = success(
  'picture, or the record',
  { ...PICTURES, 'application/json': { schema: schemaOf('ChannelRecord') } },
  [...LOOKED_UP_FIELDS, 'Vary'],
  ['Last-Modified', 'Content-Disposition'],
);

const BANNER = {
  tag: 'pictures',
  description:
    'Crops are centred parts of the original, which is never enlarged. With both `width` and `height`, the picture is ' +
    'the largest rectangle of that ratio inside the crop. A crop that exceeds the pixels of its format is scaled down. ' +
    'If the path and a parameter give the same value, they must agree.',
  query: PICTURE_QUERY,
  responses: responsesOf(PICTURE, PICTURE_ERRORS),
} as const;
const IDENTIFIER = 'A channel ID, an @handle, or a bare name: tried as a handle, then as a user name.';
const ID_EXTENSION = `An extension (${EXTENSION_LIST}) may follow a channel ID; it selects the format.`;
const BANNER_IDENTIFIER = `${IDENTIFIER} ${ID_EXTENSION}`;
const SHORT_IDENTIFIER = `A channel ID or an @handle. ${ID_EXTENSION}`;
const VARIANT = `The crop. An extension (${EXTENSION_LIST}) may follow; it selects the format.`;

/** Every path of the public listener. */
export const OPERATIONS: Readonly<Record<string, OperationSchema>> = {
  '/': {
    id: 'Index',
    summary: 'Index of the service',
    description: 'Lists the endpoints with examples, the limits and how to reach the operator.',
    ...DOCUMENT,
  },
  '/problems': {
    id: 'Problems',
    summary: 'List of error codes',
    description: 'Lists every error code with its status and meaning.',
    ...DOCUMENT,
  },
  '/openapi.json': {
    id: 'OpenApi',
    summary: 'OpenAPI 3.1 document',
    description: 'Describes every path, parameter and response for programs.',
    ...DOCUMENT,
  },
  '/favicon.ico': {
    id: 'Icon',
    tag: 'service',
    summary: 'The service’s icon',
    description: 'Browsers request it with a page.',
    responses: responsesOf(success('icon', { 'image/png': BYTES }, DOCUMENT_FIELDS)),
  },
  '/api/channel/{identifier}': {
    id: 'Channel',
    summary: 'A channel’s metadata',
    path: { identifier: 'A channel ID, a user name or a handle, according to `type`.' },
    query: CHANNEL_QUERY,
    ...RECORD,
  },
  '/api/channels': {
    id: 'Channels',
    tag: 'channels',
    summary: 'The metadata of up to 50 channels',
    description:
      'Counts as one request of the limit. Fresh records are returned at once. Of the other channels, at most ten are ' +
      'loaded, and none while two other batches of the client load channels. The rest have a stale record, or the error ' +
      '`upstream_unavailable`; a later request returns more of them. `max-age` is the shortest of all results; if a result ' +
      'is a 5xx, the response is `no-store`.',
    query: BATCH_QUERY,
    responses: responsesOf(lookedUp('batch', 'ChannelBatch'), ['invalid_parameter', 'upstream_timeout']),
  },
  '/channel/{identifier}': {
    id: 'ChannelById',
    summary: 'A channel’s metadata by ID',
    path: { identifier: 'A channel ID.' },
    ...RECORD,
  },
  '/user/{identifier}': {
    id: 'ChannelByUsername',
    summary: 'A channel’s metadata by user name',
    path: { identifier: 'A legacy user name.' },
    ...RECORD,
  },
  '/c/{identifier}': {
    id: 'ChannelByName',
    summary: 'A channel’s metadata by name',
    path: { identifier: 'A handle or a legacy user name.' },
    ...RECORD,
  },
  '/api/search': {
    id: 'SearchResults',
    tag: 'channels',
    summary: 'Search for channels',
    description:
      'If `q` is a channel ID, an `@handle` or the URL of a channel page, that channel is the first result. Cached for ten minutes.',
    query: SEARCH_QUERY,
    responses: responsesOf(lookedUp('result', 'SearchResults'), SOURCE_ERRORS),
  },
  '/api/badge/{identifier}': {
    id: 'Badge',
    tag: 'channels',
    summary: 'A count for a shields.io badge',
    description:
      'For `https://img.shields.io/endpoint?url=…`. Counts have three digits and are rounded down: 1,284,000 is 1.28M. ' +
      'Cached like the record.',
    path: { identifier: IDENTIFIER },
    query: BADGE_QUERY,
    responses: responsesOf(lookedUp('badge', 'Badge'), CHANNEL_ERRORS),
  },
  '/api/banner/{identifier}': {
    id: 'Banner',
    summary: 'A channel’s banner or avatar',
    path: { identifier: BANNER_IDENTIFIER },
    ...BANNER,
  },
  '/api/banner/{identifier}/{variant}': {
    id: 'BannerVariant',
    summary: 'A crop of a channel’s banner, or its avatar',
    path: { identifier: IDENTIFIER, variant: VARIANT },
    ...BANNER,
  },
  '/{identifier}': {
    id: 'ShortBanner',
    summary: 'A channel’s banner, short form',
    path: { identifier: SHORT_IDENTIFIER },
    ...BANNER,
    description:
      `${BANNER.description} For an @handle without \`type\` and \`format\`, a client whose \`Accept\` names ` +
      '`application/json` and no image type gets the record.',
    responses: responsesOf(PICTURE_OR_RECORD, PICTURE_ERRORS),
  },
  '/{identifier}/{variant}': {
    id: 'ShortBannerVariant',
    summary: 'A crop or the avatar, short form',
    path: { identifier: IDENTIFIER, variant: VARIANT },
    ...BANNER,
  },
};
