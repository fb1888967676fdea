import { type Static, type TInteger, type TObject, type TSchema, Type } from 'typebox';
import { AppError } from '../domain/errors.ts';
import { FORMATS } from '../domain/formats.ts';
import { VARIANTS } from '../domain/variants.ts';

/*
 * The service's parameters, each written once: these schemas check requests and are what /openapi.json shows.
 */

function oneOf<const Name extends string>(names: readonly Name[], options: { description: string; default?: Name }) {
  return Type.Enum([...names], { type: 'string', ...options });
}

export const CHANNEL_QUERY = Type.Object({
  type: Type.Optional(
    oneOf(['id', 'username', 'handle'], { description: 'How the identifier is read.', default: 'id' }),
  ),
});

export const PICTURE_QUERY = Type.Object({
  type: Type.Optional(oneOf(VARIANTS, { description: 'Which crop of the banner, or the avatar.', default: 'default' })),
  format: Type.Optional(
    oneOf([...FORMATS, 'jpg'], {
      description:
        'The encoding; when left out the best of AVIF, WebP and JPEG that `Accept` names, else JPEG, or PNG with transparency.',
    }),
  ),
  width: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 4096,
      description: 'Pixels, never more than the crop has; alone, the height follows.',
    }),
  ),
  height: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 4096,
      description: 'Pixels, never more than the crop has; alone, the width follows.',
    }),
  ),
  quality: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Of the encoding; when left out, one at which the formats look alike. No effect on PNG.',
    }),
  ),
});

const MAX_QUERY_CODE_POINTS = 100;

export const SEARCH_QUERY = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: MAX_QUERY_CODE_POINTS,
    description: 'The search text; blanks around it are dropped.',
  }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'How many results at most.' }),
  ),
});

type Range = TInteger & { readonly minimum: number; readonly maximum: number };
type RawQuery = Readonly<Record<string, unknown>>;

/**
 * A reader for the parameters of one endpoint. Unknown ones are ignored: people add them to get past caches.
 *
 * @throws AppError `invalid_parameter` naming the first parameter that is missing, empty, given twice or not allowed
 */
export function createQueryReader<Schema extends TObject>(schema: Schema): (raw: RawQuery) => Static<Schema> {
  const readers = Object.entries(schema.properties).map(([name, property]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    return [name, createParameterReader(name, property, isRequired)] as const;
  });
  return (raw) => {
    const read: Record<string, unknown> = {};
    for (const [name, readParameter] of readers) {
      const value = readParameter(raw[name]);
      if (value !== undefined) read[name] = value;
    }
    return read as Static<Schema>;
  };
}

function createParameterReader(name: string, schema: TSchema, isRequired: boolean): (raw: unknown) => unknown {
  const isAllowed = checkOf(schema);
  const expected = expectationOf(schema);
  return (raw) => {
    if (raw === undefined) {
      if (isRequired) throw new AppError('invalid_parameter', `The parameter "${name}" is missing: ${expected}.`);
      return undefined;
    }
    if (typeof raw !== 'string') {
      throw new AppError('invalid_parameter', `The parameter "${name}" is given more than once: give it once.`);
    }
    const value = readValue(raw, schema);
    if (value !== undefined && isAllowed(value)) return value;
    const fault = raw.trim() === '' ? 'is empty' : 'cannot be used';
    throw new AppError('invalid_parameter', `The parameter "${name}" ${fault}: ${expected}.`);
  };
}

/** Blanks around a search text are dropped; a name or number with blanks is none of ours. */
function readValue(raw: string, schema: TSchema): number | string | undefined {
  if (Type.IsInteger(schema)) return readInteger(raw);
  return Type.IsEnum(schema) ? raw : raw.trim();
}

function readInteger(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** For the three kinds of parameters there are; the library's own compiler would take a tenth of the start. */
function checkOf(schema: TSchema): (value: number | string) => boolean {
  if (Type.IsInteger(schema)) {
    const { minimum, maximum } = schema as Range;
    return (value) => Number(value) >= minimum && Number(value) <= maximum;
  }
  if (Type.IsEnum(schema)) return (value) => schema.enum.includes(value);
  return (value) => {
    const codePoints = [...String(value)].length;
    return codePoints >= 1 && codePoints <= MAX_QUERY_CODE_POINTS;
  };
}

function expectationOf(schema: TSchema): string {
  if (Type.IsInteger(schema)) {
    const { minimum, maximum } = schema as Range;
    return `it must be a whole number from ${minimum} to ${maximum}`;
  }
  if (Type.IsEnum(schema)) return `it must be one of ${schema.enum.join(', ')}, in lower case`;
  return `it must be a text of 1 to ${MAX_QUERY_CODE_POINTS} characters`;
}
