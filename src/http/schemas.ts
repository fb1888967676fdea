import { type TSchema, Type } from 'typebox';
import { ERROR_CODES } from '../domain/errors.ts';
import { FORMATS, MEDIA_TYPES } from '../domain/formats.ts';
import { PROBLEM_MEDIA_TYPE, PROBLEMS } from './problems.ts';

/*
 * What the service answers, for /openapi.json. `null` means unknown or hidden.
 */

function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

const TEXT = nullable(Type.String());
const COUNT = nullable(Type.String({ pattern: '^\\d+$', description: 'A decimal integer.' }));
const URL_TEXT = nullable(Type.String({ format: 'uri' }));
const CHANNEL_ID = Type.String({ pattern: '^UC[A-Za-z0-9_-]{22}$' });

export const CHANNEL_RECORD = json(
  Type.Object({
    channelId: CHANNEL_ID,
    title: Type.String(),
    description: TEXT,
    customUrl: nullable(Type.String({ description: 'The handle, with its leading @.' })),
    publishedAt: nullable(Type.String({ format: 'date-time', description: 'UTC, to the second.' })),
    country: nullable(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.' })),
    subscriberCount: COUNT,
    viewCount: COUNT,
    videoCount: COUNT,
    bannerUrl: URL_TEXT,
    avatarUrl: URL_TEXT,
    bannerUrls: Type.Object({
      default: URL_TEXT,
      tv: URL_TEXT,
      desktop: URL_TEXT,
      tablet: URL_TEXT,
      mobile: URL_TEXT,
      avatar: URL_TEXT,
    }),
    links: Type.Array(Type.Object({ title: Type.String(), url: Type.String({ format: 'uri' }) })),
  }),
);

export const SEARCH_RESULTS = json(
  Type.Object({
    query: Type.String(),
    results: Type.Array(
      Type.Object({
        channelId: CHANNEL_ID,
        title: Type.String(),
        description: TEXT,
        customUrl: TEXT,
        subscriberCount: COUNT,
        videoCount: COUNT,
        bannerUrl: URL_TEXT,
        avatarUrl: URL_TEXT,
      }),
    ),
  }),
);

export const PICTURE = {
  description: 'The picture.',
  content: Object.fromEntries(
    FORMATS.map((format) => [MEDIA_TYPES[format], { schema: Type.String({ format: 'binary' }) }]),
  ),
};

export const JSON_DOCUMENT = json(Type.Object({}, { additionalProperties: true }));

const PROBLEM = Type.Object({
  type: Type.String({ format: 'uri-reference' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.Enum([...ERROR_CODES], { type: 'string' }),
  requestId: Type.String(),
});

function json(schema: TSchema): object {
  return { description: 'The answer.', content: { 'application/json': { schema } } };
}

/** A header section over the limit answers this status with the code of an over-long URL. */
export const HEADERS_TOO_LARGE_STATUS = 431;

/** An endpoint's answers: the given ones, "not modified", and every error there is. */
export function answersOf(success: Record<number, object>): Record<string, unknown> {
  const notModified = { 304: { description: 'The copy that the client has is still right.', type: 'null' } };
  return { ...success, ...notModified, ...problemAnswers() };
}

/** The answers to OPTIONS, the same at every path. */
export function preflightAnswers(): Record<string, unknown> {
  return { 204: { description: 'What a browser may ask for.', type: 'null' }, ...problemAnswers() };
}

function problemAnswers(): Record<string, unknown> {
  const statuses = new Map<number, string[]>([[HEADERS_TOO_LARGE_STATUS, ['request_too_large']]]);
  for (const [code, { status }] of Object.entries(PROBLEMS)) {
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  const answers = [...statuses].map(([status, codes]) => [
    status,
    { description: `code: ${codes.join(' or ')}`, content: { [PROBLEM_MEDIA_TYPE]: { schema: PROBLEM } } },
  ]);
  return Object.fromEntries(answers);
}
