import assert from 'node:assert/strict';
import fc from 'fast-check';
import Schema from 'typebox/schema';
import { COMMON_FIELDS, LIMIT_FIELDS } from '../../src/http/response/fields.ts';
import type { SentResponse } from './http-request.ts';
import { decodeImage } from './image.ts';

type Named<T> = Readonly<Record<string, T>>;

interface Reference {
  readonly $ref: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: {
    readonly enum?: readonly string[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxItems?: number;
  };
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  /** References to `components.responses`. */
  readonly responses: Named<Reference>;
}

interface Response {
  readonly content?: Named<{ readonly schema: object }>;
  readonly headers: Named<Reference>;
}

/** The part of OpenAPI 3.1 that this service's document uses. */
export interface OpenApiDocument {
  readonly paths: Named<Named<Operation>>;
  readonly components: {
    readonly headers: Named<{ readonly required: boolean }>;
    readonly responses: Named<Response>;
  };
}

const validators = new WeakMap<object, ReturnType<typeof Schema.Compile>>();

/** A schema may refer to the document's others, so it is compiled inside the document. */
function validatorOf(schema: object, { components }: OpenApiDocument): ReturnType<typeof Schema.Compile> {
  const validator = validators.get(schema) ?? Schema.Compile({ ...schema, components });
  validators.set(schema, validator);
  return validator;
}

/** Fields of HTTP itself, and those that `content` declares. */
const FRAMING = ['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding'];

/**
 * Checks the status, the header, the media type, the body against its schema, and an image by decoding it.
 *
 * @throws Error that says what is not as the document declares it
 */
export async function assertDeclared(
  document: OpenApiDocument,
  { route, method }: { readonly route: string; readonly method: string },
  { status, headers, bytes }: SentResponse,
): Promise<void> {
  if (method === 'OPTIONS' && status === 204) return;
  const declaredResponses = document.paths[route]?.get?.responses;
  const reference = declaredResponses?.[status] ?? declaredResponses?.[`${Math.floor(status / 100)}XX`];
  const response = document.components.responses[nameIn(reference)];
  assert(response !== undefined, `status ${status} is not declared`);
  assertHeaders(document, response, headers);
  const { content } = response;
  const contentType = String(headers['content-type'] ?? '').split(';')[0] as string;
  const declared = content?.[contentType];
  assert(content === undefined || declared !== undefined, `"${contentType}" is not declared for status ${status}`);
  if (declared === undefined || method === 'HEAD') {
    assert.equal(bytes.length, 0, `status ${status} to ${method} came with a body`);
  } else if (contentType.startsWith('image/')) {
    const { format } = await decodeImage(bytes);
    assert.equal(format === 'svg' ? 'image/svg+xml' : `image/${format}`, contentType);
  } else {
    const text = bytes.toString('utf8');
    assert(validatorOf(declared.schema, document).Check(JSON.parse(text)), `the JSON does not fit its schema: ${text}`);
  }
}

function nameIn(reference: Reference | undefined): string {
  return reference?.$ref.split('/').at(-1) ?? '';
}

function assertHeaders({ components }: OpenApiDocument, response: Response, headers: SentResponse['headers']): void {
  const listed = Object.keys(response.headers);
  const required = [...COMMON_FIELDS, ...listed.filter((name) => components.headers[name]?.required)];
  for (const name of required) assert(headers[name.toLowerCase()] !== undefined, `the header ${name} is missing`);
  const names = [...COMMON_FIELDS, ...LIMIT_FIELDS, ...listed].map((name) => name.toLowerCase());
  const declared = new Set([...FRAMING, ...names]);
  for (const name of Object.keys(headers)) assert(declared.has(name), `the header ${name} is not declared`);
}

/** From the sample catalog. Without existing identifiers, every request would fail at the first check. */
const KNOWN_IDENTIFIERS = ['UCPennantSample00000005A', 'UCPennantSample00000001A', '@pennantsample', 'lanternreads'];

/** Bidirectional controls, joiners, confusable characters, header and markup injection, string ends of other languages. */
const HOSTILE_TEXTS = [
  '\u202Eelttil\u202C',
  '@\u2066admin\u2069',
  '@pennant\u200Dsample',
  '@реnnantsample',
  '@\u0130stanbul',
  '\uFF20pennantsample',
  'e\u0301'.repeat(15),
  '\u{1F469}\u200D\u{1F680}',
  'x\r\nSet-Cookie: a=b',
  'x\r\n\r\n<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '__proto__',
  'constructor',
  '\u0000',
  '-',
  '.',
  '@',
  '%',
  '𝒳'.repeat(31),
  'a'.repeat(3000),
];

const HOSTILE_NUMBERS = ['', '0', '-1', '1e3', '0x10', '1.5', '٣', ' 7', '007', '99999999999999999999', 'NaN', '1,2'];
const UNKNOWN_PARAMETERS = ['__proto__', 'constructor', 'toString', 'type[]', 'TYPE', 'cb', 'hasOwnProperty', 'q.q'];

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: [
    'application/json',
    'image/avif',
    'image/webp;q=0.1, image/jpeg;q=0.2',
    '*/*',
    'image/avif;q=nan',
    ',;,q=',
    'a'.repeat(2000),
  ],
  'if-none-match': ['*', '""', 'W/"x", "y"', '"'.repeat(500), '\u00ff'],
  'if-modified-since': ['Thu, 01 Jan 2099 00:00:00 GMT', 'never', '-1', '9'.repeat(400)],
  range: ['bytes=0-0', 'bytes=-1', 'bytes=0-,0-,0-'],
  'x-forwarded-for': ['10.0.0.1', ',,,', '"[::1]:1"', '\u00ff\u00fe'],
  'x-forwarded-host': ['evil.example'],
  'x-forwarded-proto': ['https', 'javascript'],
  cookie: ['a=b; __proto__=x'],
};

const METHODS_NOT_SERVED = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

/** As often as this times, the usual value. */
function usually<T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

const text = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }));
const escaped = text.map(encodeURIComponent);
const bytes = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((values) => Buffer.from(values).toString('hex').replaceAll(/../g, '%$&'));
/** Written into a URL: escaped properly, escaped twice, or as arbitrary bytes. */
const hostile = usually(3, usually(6, escaped, escaped.map(encodeURIComponent)), bytes);
const known = fc.constantFrom(...KNOWN_IDENTIFIERS).map(encodeURIComponent);
const unknownParameter = fc.tuple(fc.constantFrom(...UNKNOWN_PARAMETERS), hostile);
const headerLines = Object.entries(HEADERS).flatMap(([name, values]) => values.map((value) => [name, value] as const));
const headers = fc.array(fc.constantFrom(...headerLines), { maxLength: 2 }).map((lines) => Object.fromEntries(lines));

/** Requests of an attacker, with escapes, for every declared path and parameter. */
export function hostileRequests(document: OpenApiDocument) {
  const operations = Object.entries(document.paths).flatMap(([route, { get }]) => {
    const parameters = get?.parameters ?? [];
    return ['GET', 'HEAD', 'OPTIONS'].map((method) => ({
      arbitrary: requestTo(route, method, parameters),
      // Documents have no parameters, so most requests are for other paths.
      weight: method === 'GET' ? 4 * parameters.length + 1 : 1,
    }));
  });
  return fc.oneof(...operations);
}

function requestTo(route: string, method: string, parameters: readonly Parameter[]) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const values = inPath.map(({ schema }) =>
    usually(2, schema.enum === undefined ? known : fc.constantFrom(...schema.enum), hostile),
  );
  const declared = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, schema }) => fc.tuple(fc.constant(name), queryValue(schema)));
  return fc
    .record({
      path: fc
        .tuple(...values)
        .map((given) => given.reduce((path, value, at) => path.replace(`{${inPath[at]?.name}}`, () => value), route)),
      // Sometimes a declared parameter is given twice.
      query: fc.array(fc.oneof(...declared, ...declared, unknownParameter), { maxLength: 3 }),
      headers,
      method: usually(19, fc.constant(method), fc.constantFrom(...METHODS_NOT_SERVED)),
    })
    .map(({ path, query, ...rest }) => {
      const given = query.map(([name, value]) => `${name}=${value}`).join('&');
      return { route, url: given === '' ? path : `${path}?${given}`, ...rest };
    });
}

function queryValue({ enum: names, minimum, maximum, maxItems }: Parameter['schema']): fc.Arbitrary<string> {
  if (maxItems !== undefined) {
    return fc.array(usually(20, known, hostile), { maxLength: maxItems + 1 }).map((values) => values.join(','));
  }
  if (names !== undefined) return usually(3, fc.constantFrom(...names), hostile);
  if (minimum === undefined || maximum === undefined) return hostile;
  const edges = [minimum - 1, minimum, maximum, maximum + 1].map(String);
  const strange = fc.constantFrom(...edges, ...HOSTILE_NUMBERS).map(encodeURIComponent);
  return usually(3, fc.integer({ min: minimum, max: maximum }).map(String), fc.oneof(strange, hostile));
}
