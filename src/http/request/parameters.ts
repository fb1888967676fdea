import { type ParsedUrlQuery, parse } from 'node:querystring';
import { MAX_HITS } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { FORMAT_NAMES, formatRow, NEGOTIATED_FORMATS } from '../../domain/formats.ts';
import { identifiersIn, MAX_PASTED_CHARACTERS } from '../../domain/pasted.ts';
import { type Background, FITS, MAX_PADDED_SQUARE_PX, MAX_SIDE_PX, VARIANTS } from '../../domain/variants.ts';
import { quoted } from '../../lib/printable.ts';

/*
 * The service's parameters, each defined once, for requests and for /openapi.json.
 */

/** A query parameter. `Value` includes `undefined` unless the parameter is required or has a default. */
export interface Parameter<Value = unknown> {
  readonly description: string;
  /** JSON Schema. Its `default` is the value without the parameter. */
  readonly schema: { readonly type: 'string' | 'integer' | 'array'; readonly [keyword: string]: unknown };
  /** A value that works with the sample catalog. */
  readonly example: string | number | readonly string[];
  /** The allowed values, for messages. */
  readonly expected: string;
  /** Default: false. */
  readonly isRequired?: boolean;
  /** True for a list that may also be spread over several parameters of this name. */
  readonly isJoined?: boolean;
  /** Returns `undefined` when the text is not allowed. */
  read(text: string): Value | undefined;
}

/** The parameters of one endpoint by name. */
export type Parameters = Readonly<Record<string, Parameter>>;
export type Values<Query extends Parameters> = {
  readonly [Name in keyof Query]: Query[Name] extends Parameter<infer Value> ? Value : never;
};

export function choiceParameter<const Name extends string, Fallback extends Name | undefined = undefined>(
  names: readonly Name[],
  description: string,
  example: NoInfer<Name>,
  fallback?: Fallback,
): Parameter<Name | Fallback> {
  return {
    description,
    example,
    schema: { type: 'string', enum: names, default: fallback },
    expected: `${names.join(', ')} (lower case)`,
    read: (text) => names.find((name) => name === text),
  };
}

function wholeNumber<Fallback extends number | undefined = undefined>(
  minimum: number,
  maximum: number,
  description: string,
  example: number,
  fallback?: Fallback,
): Parameter<number | Fallback> {
  return {
    description,
    example,
    schema: { type: 'integer', minimum, maximum, default: fallback },
    expected: `a whole number from ${minimum} to ${maximum}`,
    read(text) {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

export const CHANNEL_QUERY = {
  type: choiceParameter(['id', 'username', 'handle'], 'How the identifier is read.', 'id', 'id'),
};

const HEX_COLOR = /^(?:[\da-f]{3}){1,2}$/i;

const BACKGROUND: Parameter<Background | undefined> = {
  description:
    'With `fit=contain`, the color around the image and behind its transparent parts: `RRGGBB` or `RGB` (hex, without ' +
    '`#`), or `transparent`. Default: `transparent`; white in JPEG.',
  example: '1f2937',
  schema: { type: 'string', pattern: '^(?:transparent|[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$' },
  expected: 'RRGGBB or RGB (hex, without #), transparent',
  read(text) {
    if (text === 'transparent') return text;
    if (!HEX_COLOR.test(text)) return undefined;
    return (text.length === 3 ? text.replaceAll(/./g, '$&$&') : text).toLowerCase();
  },
};

function side(name: string, other: string, example: number): Parameter<number | undefined> {
  const description = `The ${name} in pixels, at most that of the crop. Without \`${other}\`, the ratio stays.`;
  return wholeNumber(1, MAX_SIDE_PX, description, example);
}

const NEGOTIATED_TITLES = NEGOTIATED_FORMATS.map((format) => formatRow(format).title).join(', ');

export const IMAGE_QUERY = {
  type: choiceParameter(
    [...VARIANTS, 'phone'],
    'A crop of the banner, or the avatar. `phone` is the same as `mobile`. Default: the one in the path, else `default`.',
    'tv',
  ),
  format: choiceParameter(
    FORMAT_NAMES,
    `The format. Default: the one of ${NEGOTIATED_TITLES} that \`Accept\` prefers, else JPEG, or PNG with transparency.`,
    'avif',
  ),
  width: side('width', 'height', 640),
  height: side('height', 'width', 360),
  fit: choiceParameter(
    FITS,
    'With both `width` and `height`: `cover` cuts the crop to their ratio, `contain` scales all of it to fit inside and ' +
      `pads it to exactly that size, at most ${MAX_PADDED_SQUARE_PX} × ${MAX_PADDED_SQUARE_PX} pixels in all.`,
    'contain',
    'cover',
  ),
  background: BACKGROUND,
  quality: wholeNumber(
    1,
    100,
    'The quality of the encoding, which has no effect on PNG. Default: one per format, so that all formats look alike.',
    80,
  ),
};

const MAX_SEARCH_CODE_POINTS = 100;

const SEARCH_TEXT: Parameter<string> = {
  description:
    `The search text, without surrounding blanks: up to ${MAX_SEARCH_CODE_POINTS} characters, or an ID, @handle or address ` +
    `of a channel, up to ${MAX_PASTED_CHARACTERS} characters.`,
  example: 'pennant',
  schema: { type: 'string', minLength: 1, maxLength: MAX_PASTED_CHARACTERS },
  expected: `a text of 1 to ${MAX_SEARCH_CODE_POINTS} characters, or what names a channel, of at most ${MAX_PASTED_CHARACTERS}`,
  isRequired: true,
  read(text) {
    const trimmed = text.trim();
    if (trimmed === '') return undefined;
    return identifiersIn(trimmed).length > 0 || [...trimmed].length <= MAX_SEARCH_CODE_POINTS ? trimmed : undefined;
  },
};

export const SEARCH_QUERY = {
  q: SEARCH_TEXT,
  limit: wholeNumber(1, MAX_HITS, 'The maximum number of results.', 5, MAX_HITS),
};

export const MAX_BATCH = 50;

/** Splits the list. Blanks and empty values do not count. The endpoint reads each value, and refuses too many. */
const BATCH_IDS: Parameter<readonly string[]> = {
  description: 'Channel IDs and @handles, separated by commas. Several parameters `ids` are joined.',
  example: ['UCPennantSample00000001A', '@pennantsample'],
  schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_BATCH },
  expected: `1 to ${MAX_BATCH} channel IDs and @handles, separated by commas`,
  isRequired: true,
  isJoined: true,
  read(text) {
    const values = text.split(',').map((value) => value.trim());
    const given = values.filter((value) => value !== '');
    return given.length > 0 ? given : undefined;
  },
};

export const BATCH_QUERY = { ids: BATCH_IDS };

/** Decodes the names and values of a query, in their order. The query has its question mark, or is empty. */
export function parseQuery(query: string): ParsedUrlQuery {
  return parse(query.slice(1), '&', '=', { maxKeys: 0 });
}

/** The `invalid_parameter` of a parameter that is missing, empty, given twice or not allowed. */
export class InvalidParameter extends AppError {
  /** The name of the parameter. */
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super('invalid_parameter', message);
    this.parameter = parameter;
  }
}

/**
 * The values of the parameters of one endpoint, and the error of the first parameter that is not valid. Those that are not
 * valid have their defaults. Unknown ones are ignored, because clients add them to bypass caches.
 */
export function readQuery<Query extends Parameters>(parameters: Query, raw: ParsedUrlQuery) {
  const values: Record<string, unknown> = {};
  let error: InvalidParameter | undefined;
  for (const name in parameters) {
    const value = readParameter(name, parameters[name] as Parameter, raw[name]);
    if (value instanceof InvalidParameter) error ??= value;
    values[name] = value instanceof InvalidParameter ? parameters[name]?.schema.default : value;
  }
  return { values: values as Values<Query>, error };
}

/** The value, or why there is none. */
function readParameter(name: string, parameter: Parameter, given: ParsedUrlQuery[string]): unknown {
  const { isRequired, isJoined = false, schema, expected, read } = parameter;
  if (given === undefined && !isRequired) return schema.default;
  if (Array.isArray(given) && !isJoined) {
    return new InvalidParameter(name, `The parameter "${name}" is given more than once. Give it once.`);
  }
  const raw = Array.isArray(given) ? given.join(',') : given;
  const value = raw === undefined || raw === '' ? undefined : read(raw);
  return value ?? new InvalidParameter(name, `${faultOf(name, raw)}. Valid: ${expected}.`);
}

function faultOf(name: string, raw: string | undefined): string {
  if (raw === undefined) return `The parameter "${name}" is missing`;
  return raw.trim() === '' ? `The parameter "${name}" is empty` : `${quoted(raw)} is not a valid ${name}`;
}
