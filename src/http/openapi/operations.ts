import { FORMATS, formatRow } from '../../domain/formats.ts';
import { VARIANTS } from '../../domain/variants.ts';
import { BADGE_IMAGE_QUERY, BADGE_QUERY, RETIRED_BADGE_QUERY } from '../request/badge-parameters.ts';
import { BATCH_QUERY, CHANNEL_QUERY, IMAGE_QUERY, type Parameters, SEARCH_QUERY } from '../request/parameters.ts';
import { EXTENSION_LIST } from '../routes/channel-images.ts';
import {
  CHANNEL_ERRORS,
  DOCUMENT_FIELDS,
  IMAGE_ERRORS,
  LOOKED_UP_FIELDS,
  lookedUp,
  type Responses,
  responsesOf,
  SOURCE_ERRORS,
  success,
} from './responses.ts';
import { schemaOf } from './schemas.ts';

export const TAGS = {
  channels: 'Metadata of channels as JSON, and the search for them.',
  images: 'Banners and avatars as images.',
  service: 'What this instance offers.',
} as const;

interface PathParameter {
  readonly description: string;
  /** A value that works with the sample catalog. */
  readonly example: string;
  /** A regular expression. */
  readonly pattern?: string;
}

type PathSchema = Readonly<Record<string, PathParameter>>;

/** GET and HEAD of one path in the OpenAPI document. */
export interface OperationSchema {
  /** What the path returns, as part of a name. Generated clients call the operations `get…`, `head…` and `options…`. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** A few words. */
  readonly summary: string;
  /** Whole sentences. */
  readonly description: string;
  readonly path?: PathSchema;
  readonly query?: Parameters | undefined;
  readonly responses: Responses;
}

const BYTES = { schema: { type: 'string', format: 'binary' } };
const IMAGES = Object.fromEntries(FORMATS.map((format) => [formatRow(format).mediaType, BYTES]));

const SAMPLE_ID = 'UCPennantSample00000001A';
const SAMPLE_HANDLE = '@pennantsample';

const IDENTIFIER: PathParameter = {
  description: 'A channel ID, an @handle, or a name (a handle, else a user name).',
  example: SAMPLE_HANDLE,
};
const ID_EXTENSION = `A channel ID may have an extension (${EXTENSION_LIST}) for the format.`;
const BANNER_IDENTIFIER = { ...IDENTIFIER, description: `${IDENTIFIER.description} ${ID_EXTENSION}` };
const SHORT_IDENTIFIER = { ...IDENTIFIER, description: `A channel ID or an @handle. ${ID_EXTENSION}` };
const EXTENSIONS = EXTENSION_LIST.replaceAll(/[.,]/g, '').replaceAll(' ', '|');
const VARIANT: PathParameter = {
  description: `The crop: ${VARIANTS.join(', ')}. It may have an extension (${EXTENSION_LIST}) for the format.`,
  example: 'tv.avif',
  pattern: `^(?:${VARIANTS.join('|')})(?:\\.(?:${EXTENSIONS}|jpeg))?$`,
};

function documentAs(id: string, summary: string, description: string): OperationSchema {
  const own = success('document', { 'application/json': { schema: { type: 'object' } } }, DOCUMENT_FIELDS);
  return { id, tag: 'service', summary, description, responses: responsesOf(own) };
}

function record(id: string, summary: string, identifier: PathParameter, query?: Parameters): OperationSchema {
  return {
    id,
    tag: 'channels',
    summary,
    description: 'If upstream redirects the ID, the response is the record of the target channel.',
    path: { identifier },
    query,
    responses: responsesOf(lookedUp('record', 'ChannelRecord'), CHANNEL_ERRORS),
  };
}

const IMAGE_FIELDS = ['Last-Modified', 'Content-Disposition'] as const;
const IMAGE = success('image', IMAGES, [...LOOKED_UP_FIELDS, ...IMAGE_FIELDS, 'Vary']);
/** At `/@handle`, for a client that accepts JSON and no image. */
const IMAGE_OR_RECORD = success(
  'image, or the record',
  { ...IMAGES, 'application/json': { schema: schemaOf('ChannelRecord') } },
  [...LOOKED_UP_FIELDS, 'Vary'],
  IMAGE_FIELDS,
);

const IMAGE_DESCRIPTION =
  'Crops are centred parts of the original, which is never enlarged. No side has more than 4,096 pixels. With both `width` and `height`, the image is ' +
  'the largest rectangle of that ratio inside the crop, scaled down to fit, or with `fit=contain` the whole crop, ' +
  'padded to exactly that size. Path and parameters must not contradict ' +
  'each other.';

function image(id: string, summary: string, path: PathSchema): OperationSchema {
  const responses = responsesOf(IMAGE, IMAGE_ERRORS);
  return { id, tag: 'images', summary, description: IMAGE_DESCRIPTION, path, query: IMAGE_QUERY, responses };
}

const BADGE_CACHING =
  'Cached like the record, for at least five minutes. Image proxies such as GitHub’s do not show an image whose status ' +
  'is not 200 or comes late, so an error is a grey badge with 200 and `max-age=60`: "not found", "unavailable" (also ' +
  'after 3 s without a count), "not available" (a take-down), "invalid color". Errors that any path can have (the rate limit, a method, malformed HTTP) are JSON.';

const BADGE_IMAGE = success('badge image', { 'image/svg+xml': { schema: { type: 'string' } } }, [
  ...LOOKED_UP_FIELDS,
  'Content-Security-Policy',
]);

function retiredBadge(id: string, metric: string): OperationSchema {
  return {
    id: `${id}Badge`,
    tag: 'images',
    summary: `The badge with the ${metric}, at the path that shields.io retired`,
    description:
      'In a README, replace the host. The default style is `social`, and by default only this style has the logo. The ' +
      `identifier may end in \`.svg\`. Other parameters of shields.io are ignored. ${BADGE_CACHING}`,
    path: { identifier: IDENTIFIER },
    query: RETIRED_BADGE_QUERY,
    responses: responsesOf(BADGE_IMAGE),
  };
}

/** Every path of the public listener. A function, because the result takes half a megabyte and is used once. */
export function describeOperations(): Readonly<Record<string, OperationSchema>> {
  return {
    '/': documentAs('Index', 'Index of the service', 'Endpoints with examples, limits and the operator’s contact.'),
    '/problems': documentAs('Problems', 'List of error codes', 'Every error code with its status and meaning.'),
    '/openapi.json': documentAs('OpenApi', 'OpenAPI 3.1 document', 'Every path, parameter and response for programs.'),
    '/favicon.ico': {
      id: 'Icon',
      tag: 'service',
      summary: 'The service’s icon',
      description: 'Browsers request it with a page.',
      responses: responsesOf(success('icon', { 'image/png': BYTES }, DOCUMENT_FIELDS)),
    },
    '/api/channel/{identifier}': record(
      'Channel',
      'A channel’s metadata',
      { description: 'A channel ID, a user name or a handle, according to `type`.', example: SAMPLE_ID },
      CHANNEL_QUERY,
    ),
    '/api/channels': {
      id: 'Channels',
      tag: 'channels',
      summary: 'The metadata of up to 50 channels',
      description:
        'Counts as one request of the limit. Fresh records are returned at once. Of the other channels, at most ten are ' +
        'loaded, and none while two other batches of the client load channels. The rest have a stale record, or the error ' +
        '`upstream_unavailable`: request them again. `max-age` is the shortest of all results. With a 5xx among them, the ' +
        'response is `no-store`.',
      query: BATCH_QUERY,
      responses: responsesOf(lookedUp('batch', 'ChannelBatch'), ['invalid_parameter', 'upstream_timeout']),
    },
    '/channel/{identifier}': record('ChannelById', 'A channel’s metadata by ID', {
      description: 'A channel ID.',
      example: SAMPLE_ID,
    }),
    '/user/{identifier}': record('ChannelByUsername', 'A channel’s metadata by user name', {
      description: 'A legacy user name.',
      example: 'PennantSample',
    }),
    '/c/{identifier}': record('ChannelByName', 'A channel’s metadata by name', {
      description: 'A legacy custom name; if there is none, it is read as a handle, then as a legacy user name.',
      example: 'pennantsample',
    }),
    '/api/search': {
      id: 'SearchResults',
      tag: 'channels',
      summary: 'Search for channels',
      description:
        'If `q` is a channel ID, an `@handle` or the URL of a channel page, that channel is the first result.',
      query: SEARCH_QUERY,
      responses: responsesOf(lookedUp('result', 'SearchResults'), SOURCE_ERRORS),
    },
    '/api/badge/{identifier}': {
      id: 'Badge',
      tag: 'channels',
      summary: 'A count for a shields.io badge',
      description:
        'For `https://img.shields.io/endpoint?url=…`. Counts have three digits and are rounded down: 1,284,000 is 1.28M.',
      path: { identifier: IDENTIFIER },
      query: BADGE_QUERY,
      responses: responsesOf(lookedUp('badge', 'Badge'), CHANNEL_ERRORS),
    },
    '/api/badge/{identifier}.svg': {
      id: 'BadgeImage',
      tag: 'images',
      summary: 'A count as the image of a badge',
      description: `The badge of shields.io as an SVG, for READMEs and pages. ${BADGE_CACHING}`,
      path: { identifier: IDENTIFIER },
      query: BADGE_IMAGE_QUERY,
      responses: responsesOf(BADGE_IMAGE),
    },
    '/youtube/channel/subscribers/{identifier}': retiredBadge('Subscribers', 'subscribers'),
    '/youtube/channel/views/{identifier}': retiredBadge('Views', 'views'),
    '/api/banner/{identifier}': image('Banner', 'A channel’s banner or avatar', { identifier: BANNER_IDENTIFIER }),
    '/api/banner/{identifier}/{variant}': image('BannerVariant', 'A crop of a channel’s banner, or its avatar', {
      identifier: IDENTIFIER,
      variant: VARIANT,
    }),
    '/{identifier}': {
      ...image('ShortBanner', 'A channel’s banner, short form', { identifier: SHORT_IDENTIFIER }),
      description:
        `${IMAGE_DESCRIPTION} For an @handle without \`type\` and \`format\`, a client whose \`Accept\` names ` +
        '`application/json` and no image type gets the record.',
      responses: responsesOf(IMAGE_OR_RECORD, IMAGE_ERRORS),
    },
    '/{identifier}/{variant}': image('ShortBannerVariant', 'A crop or the avatar, short form', {
      identifier: IDENTIFIER,
      variant: VARIANT,
    }),
  };
}
