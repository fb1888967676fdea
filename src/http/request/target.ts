import { parse } from 'node:querystring';
import type { XStatic } from 'typebox/schema';
import { AppError } from '../../domain/errors.ts';
import { FORMATS, type Format } from '../../domain/formats.ts';
import { quoted } from '../../domain/printable.ts';
import { VARIANTS, type Variant } from '../../domain/variants.ts';

/** A request's target, read once, before anything looks at its path. */
export interface RequestTarget {
  /** Path for the router: empty segments and a trailing slash dropped, escapes as they came. */
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly query: string;
  /** Of an absolute-form target (RFC 9112 section 3.2.2); it then counts instead of `Host`. */
  readonly authority: string | undefined;
  /** Why the target cannot be used. */
  readonly problem: AppError | undefined;
}

/** Proxies and browsers cut longer ones anyway. */
export const MAX_URL_BYTES = 8_192;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

export function parseTarget(rawUrl: string): RequestTarget {
  if (rawUrl.length > MAX_URL_BYTES) {
    return unusable(urlTooLong());
  }
  const absolute = rawUrl.startsWith('/') ? null : ABSOLUTE_FORM.exec(rawUrl);
  const origin = absolute?.[0] ?? '';
  const relative = rawUrl.slice(origin.length);
  const queryAt = relative.indexOf('?');
  const rawPath = queryAt === -1 ? relative : relative.slice(0, queryAt);
  const query = queryAt === -1 ? '' : relative.slice(queryAt);
  const path = absolute !== null && rawPath === '' ? '/' : rawPath;
  if (!path.startsWith('/')) return unusable(noTarget());
  if (absolute?.[1] === '') return unusable(new AppError('malformed_request', 'The absolute URL has no host.'));
  const reason = findPathFault(path) ?? findQueryFault(query);
  if (reason !== undefined) return unusable(new AppError('malformed_request', reason));
  return { path: dropEmptySegments(path), query, authority: absolute?.[1], problem: undefined };
}

export function noTarget(): AppError {
  return new AppError('malformed_request', 'The request target is neither a path nor an absolute URL.');
}

export function urlTooLong(): AppError {
  return new AppError('request_too_large', `The URL is longer than ${MAX_URL_BYTES} bytes.`);
}

function unusable(problem: AppError): RequestTarget {
  return { path: '/', query: '', authority: undefined, problem };
}

function dropEmptySegments(path: string): string {
  if (path === '/') return path;
  const withoutEmpty = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  return withoutEmpty.endsWith('/') && withoutEmpty !== '/' ? withoutEmpty.slice(0, -1) : withoutEmpty;
}

/** What no path can be faulty without: an escape, a backslash, a dot segment. */
const SUSPICIOUS = /[%\\]|\/\.{1,2}(?:\/|$)/;

function findPathFault(path: string): string | undefined {
  if (path.includes('#')) return 'The path holds a "#": leave the fragment out.';
  if (!SUSPICIOUS.test(path)) return undefined;
  for (const segment of path.split('/')) {
    const decoded = decode(segment);
    if (decoded === undefined) return 'The path holds a broken percent-escape or broken UTF-8.';
    if (/[/\\\0]/.test(decoded))
      return 'The path holds an encoded slash, a backslash or a NUL: none of them can be part of a name.';
    if (decoded === '.' || decoded === '..') return 'The path holds a dot segment: write the path without it.';
  }
  return undefined;
}

function findQueryFault(query: string): string | undefined {
  if (!query.includes('%') || decode(query) !== undefined) return undefined;
  return 'The query holds a broken percent-escape or broken UTF-8.';
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/*
 * The service's parameters, each written once: these JSON Schemas check requests and are what /openapi.json shows.
 */

interface OneOf<Names extends readonly string[] = readonly string[]> {
  readonly type: 'string';
  readonly enum: Names;
  readonly description: string;
  readonly default?: Names[number];
}

interface WholeNumber {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly description: string;
  readonly default?: number;
}

interface Text {
  readonly type: 'string';
  readonly minLength: number;
  readonly maxLength: number;
  readonly description: string;
}

/** Values in one parameter, separated by commas. */
interface List {
  readonly type: 'array';
  readonly items: { readonly type: 'string' };
  readonly minItems: number;
  readonly maxItems: number;
  readonly description: string;
}

type Parameter = OneOf | WholeNumber | Text | List;

export interface QuerySchema {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Parameter>>;
}

function oneOf<const Names extends readonly string[]>(
  names: Names,
  options: { description: string; default?: NoInfer<Names[number]> },
): OneOf<Names> {
  return { type: 'string', enum: names, ...options };
}

function pixels(description: string): WholeNumber {
  return { type: 'integer', minimum: 1, maximum: 4096, description };
}

export const CHANNEL_QUERY = {
  type: 'object',
  properties: {
    type: oneOf(['id', 'username', 'handle'], { description: 'How the identifier is read.', default: 'id' }),
  },
} as const satisfies QuerySchema;

export const PICTURE_QUERY = {
  type: 'object',
  properties: {
    // A tuple type, from which the type of the parameter is made.
    type: oneOf([...VARIANTS, 'phone'] as unknown as readonly [Variant, 'phone'], {
      description: 'A crop of the banner, or the avatar. `phone` is the same as `mobile`.',
      default: 'default',
    }),
    format: oneOf([...FORMATS, 'jpg'] as unknown as readonly [Format, 'jpg'], {
      description:
        'The format. Default: the best of AVIF, WebP and JPEG that `Accept` names, else JPEG, or PNG with transparency.',
    }),
    width: pixels('Pixels, at most those of the crop. Without `height`, the ratio stays.'),
    height: pixels('Pixels, at most those of the crop. Without `width`, the ratio stays.'),
    quality: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: 'Quality of the encoding. Default: per format, so that all formats look alike. No effect on PNG.',
    },
  },
} as const satisfies QuerySchema;

export const SEARCH_QUERY = {
  type: 'object',
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'The search text, without surrounding blanks.',
    },
    limit: { type: 'integer', minimum: 1, maximum: 50, default: 20, description: 'Maximum number of results.' },
  },
} as const satisfies QuerySchema;

export const BATCH_QUERY = {
  type: 'object',
  required: ['ids'],
  properties: {
    ids: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: 50,
      description: 'Channel IDs and @handles, separated by commas.',
    },
  },
} as const satisfies QuerySchema;

export const BADGE_QUERY = {
  type: 'object',
  properties: {
    metric: oneOf(['subscribers', 'views', 'videos'], {
      description: 'The count that the badge shows.',
      default: 'subscribers',
    }),
  },
} as const satisfies QuerySchema;

type RawQuery = Readonly<Record<string, unknown>>;

/** Names and values as they came, without their escapes. @param query with its question mark; may be empty */
export function parseQuery(query: string): RawQuery {
  return parse(query.slice(1), '&', '=', { maxKeys: 0 });
}

/**
 * A reader for the parameters of one endpoint. Unknown ones are ignored: people add them to get past caches.
 *
 * @throws AppError `invalid_parameter` naming the first parameter that is missing, empty, given twice or not allowed
 */
export function createQueryReader<const Schema extends QuerySchema>(
  schema: Schema,
): (raw: RawQuery) => XStatic<Schema> {
  const readers = Object.entries(schema.properties).map(([name, parameter]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    return [name, createParameterReader(name, parameter, isRequired)] as const;
  });
  return (raw) => {
    const read: Record<string, unknown> = {};
    for (const [name, readParameter] of readers) {
      const value = readParameter(raw[name]);
      if (value !== undefined) read[name] = value;
    }
    return read as XStatic<Schema>;
  };
}

function createParameterReader(name: string, parameter: Parameter, isRequired: boolean): (raw: unknown) => unknown {
  const expected = expectationOf(parameter);
  return (raw) => {
    if (raw === undefined) {
      if (isRequired)
        throw new AppError('invalid_parameter', `The parameter "${name}" is missing. Valid: ${expected}.`);
      return undefined;
    }
    if (typeof raw !== 'string') {
      throw new AppError('invalid_parameter', `The parameter "${name}" is given more than once. Give it once.`);
    }
    const value = readValue(raw, parameter);
    if (value !== undefined) return value;
    const fault = raw.trim() === '' ? `The parameter "${name}" is empty` : `${quoted(raw)} is not a valid ${name}`;
    throw new AppError('invalid_parameter', `${fault}. Valid: ${expected}.`);
  };
}

/** `undefined` when the value is not allowed. */
function readValue(raw: string, parameter: Parameter): number | string | string[] | undefined {
  if (parameter.type === 'array') return readList(raw, parameter);
  if (parameter.type === 'integer') return readWholeNumber(raw, parameter);
  if ('enum' in parameter) return parameter.enum.includes(raw) ? raw : undefined;
  return readText(raw, parameter);
}

function readWholeNumber(raw: string, { minimum, maximum }: WholeNumber): number | undefined {
  if (!/^\d{1,9}$/.test(raw)) return undefined;
  const value = Number(raw);
  return value >= minimum && value <= maximum ? value : undefined;
}

/** The values as they came: the endpoint checks them. */
function readList(raw: string, { maxItems }: List): string[] | undefined {
  const values = raw.split(',', maxItems + 1);
  return raw === '' || values.length > maxItems ? undefined : values;
}

/** Blanks around a text are dropped. A name or number with blanks is not allowed. */
function readText(raw: string, { minLength, maxLength }: Text): string | undefined {
  const text = raw.trim();
  const codePoints = [...text].length;
  return codePoints >= minLength && codePoints <= maxLength ? text : undefined;
}

function expectationOf(parameter: Parameter): string {
  if (parameter.type === 'integer') {
    return `a whole number from ${parameter.minimum} to ${parameter.maximum}`;
  }
  if ('enum' in parameter) return `${parameter.enum.join(', ')} (lower case)`;
  if (parameter.type === 'array') return `${parameter.minItems} to ${parameter.maxItems} values, separated by commas`;
  return `a text of ${parameter.minLength} to ${parameter.maxLength} characters`;
}
