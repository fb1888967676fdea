import { VARIANTS } from '../../domain/variants.ts';
import { CHANNEL_QUERY, PICTURE_QUERY, type QuerySchema, SEARCH_QUERY } from '../request/params.ts';
import { EXTENSION_LIST } from '../request/picture-path.ts';
import {
  CHANNEL_ERRORS,
  CHANNEL_RECORD,
  ICON,
  JSON_DOCUMENT,
  PICTURE,
  PICTURE_ERRORS,
  type ResponseSchema,
  responsesOf,
  SEARCH_RESULTS,
  SOURCE_ERRORS,
} from './schemas.ts';

/** What the OpenAPI document says about GET and HEAD of one path. */
export interface OperationSchema {
  readonly summary: string;
  readonly description?: string;
  readonly path?: Readonly<Record<string, PathParameter>>;
  readonly query?: QuerySchema;
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseSchema>>;
}

interface PathParameter {
  readonly type: 'string';
  readonly description: string;
  readonly enum?: readonly string[];
}

function text(description: string): PathParameter {
  return { type: 'string', description };
}

const DOCUMENT = responsesOf(JSON_DOCUMENT);

const RECORD = {
  description: 'Kept for an hour. An ID that upstream redirects answers with the channel it leads to.',
  responses: responsesOf(CHANNEL_RECORD, CHANNEL_ERRORS),
};

const BANNER = {
  description:
    'Crops are centred parts of the original, which is never enlarged. `width` and `height` together take the largest ' +
    'rectangle of that ratio inside the crop. What the path and a parameter say twice has to agree.',
  query: PICTURE_QUERY,
  responses: responsesOf(PICTURE, PICTURE_ERRORS),
};
const IDENTIFIER = text('A channel ID, an @handle or a name.');
const SHORT_IDENTIFIER = text('A channel ID or an @handle; with a variant, a name too.');
const VARIANT: PathParameter = {
  type: 'string',
  enum: VARIANTS,
  description: `Which crop; an extension (${EXTENSION_LIST}) may follow and says the encoding.`,
};

/** Every path of the public listener. */
export const OPERATIONS: Readonly<Record<string, OperationSchema>> = {
  '/': { summary: 'What this service answers', responses: DOCUMENT },
  '/problems': { summary: 'Every error code', responses: DOCUMENT },
  '/openapi.json': { summary: 'This document', responses: DOCUMENT },
  '/favicon.ico': { summary: 'The service’s icon', responses: responsesOf(ICON) },
  '/api/channel/{identifier}': {
    summary: 'A channel’s metadata',
    path: { identifier: text('A channel ID, or what `type` says.') },
    query: CHANNEL_QUERY,
    ...RECORD,
  },
  '/channel/{identifier}': {
    summary: 'A channel’s metadata by ID',
    path: { identifier: text('A channel ID.') },
    ...RECORD,
  },
  '/user/{identifier}': {
    summary: 'A channel’s metadata by user name',
    path: { identifier: text('A legacy user name.') },
    ...RECORD,
  },
  '/c/{identifier}': {
    summary: 'A channel’s metadata by name',
    path: { identifier: text('A handle or a legacy user name.') },
    ...RECORD,
  },
  '/api/search': {
    summary: 'Find channels',
    description:
      'A channel ID, an `@handle` or a channel page’s URL as `q` finds that very channel first. Kept for ten minutes.',
    query: SEARCH_QUERY,
    responses: responsesOf(SEARCH_RESULTS, SOURCE_ERRORS),
  },
  '/api/banner/{identifier}': {
    summary: 'A channel’s banner or avatar',
    path: { identifier: IDENTIFIER },
    ...BANNER,
  },
  '/api/banner/{identifier}/{variant}': {
    summary: 'A crop of a channel’s banner, or its avatar',
    path: { identifier: IDENTIFIER, variant: VARIANT },
    ...BANNER,
  },
  '/{identifier}': {
    summary: 'A channel’s banner, short form',
    path: { identifier: SHORT_IDENTIFIER },
    ...BANNER,
  },
  '/{identifier}/{variant}': {
    summary: 'A crop or the avatar, short form',
    path: { identifier: SHORT_IDENTIFIER, variant: VARIANT },
    ...BANNER,
  },
};
