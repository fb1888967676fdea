import fc from 'fast-check';
import type { OpenApiDocument, Operation, Parameter } from './openapi-document.ts';

/** A request of an attacker, with escapes. */
export interface HostileRequest {
  /** The path in the document. */
  readonly route: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
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
  "'; DROP TABLE channels; --",
  '" OR title MATCH "*',
  'NEAR(a b, 1000000)',
  '{{7*7}}',
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

/** Hostile requests for every declared path and parameter. */
export function hostileRequests(document: OpenApiDocument): fc.Arbitrary<HostileRequest> {
  const operations = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route, method: method.toUpperCase(), operation })),
  );
  // Documents have no parameters, so most requests are for other paths.
  const weights = operations.map((one) => ({
    arbitrary: fc.constant(one),
    weight: (one.operation.parameters ?? []).length * (one.method === 'GET' ? 4 : 1) + 1,
  }));
  return fc.oneof(...weights).chain(({ route, method, operation }) =>
    fc
      .record({
        path: pathOf(route, operation),
        query: queryOf(operation),
        headers: headersOf(),
        method: fc.oneof(
          { weight: 19, arbitrary: fc.constant(method) },
          { weight: 1, arbitrary: fc.constantFrom(...METHODS_NOT_SERVED) },
        ),
      })
      .map(({ path, query, ...rest }) => ({ route, url: query === '' ? path : `${path}?${query}`, ...rest })),
  );
}

function parametersIn(operation: Operation, place: 'path' | 'query'): readonly Parameter[] {
  return (operation.parameters ?? []).filter((parameter) => parameter.in === place);
}

function pathOf(route: string, operation: Operation): fc.Arbitrary<string> {
  const values = parametersIn(operation, 'path').map(({ name, schema }) => {
    const usual = schema.enum ?? KNOWN_IDENTIFIERS;
    const value = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...usual).map(encodeURIComponent) },
      { weight: 2, arbitrary: hostileText() },
    );
    return value.map((written) => [`{${name}}`, written] as const);
  });
  return fc
    .tuple(...values)
    .map((written) => written.reduce((path, [name, value]) => path.replace(name, () => value), route));
}

function queryOf(operation: Operation): fc.Arbitrary<string> {
  const declared = parametersIn(operation, 'query').map(({ name, schema }) =>
    fc.record({ name: fc.constant(name), value: queryValue(schema) }),
  );
  const unknown = fc.record({ name: fc.constantFrom(...UNKNOWN_PARAMETERS), value: hostileText() });
  // Sometimes a declared parameter is given twice.
  const one = declared.length === 0 ? unknown : fc.oneof(...declared, ...declared, unknown);
  return fc.array(one, { maxLength: 3 }).map((all) => all.map(({ name, value }) => `${name}=${value}`).join('&'));
}

function queryValue({ enum: names, minimum, maximum, maxItems }: Parameter['schema']): fc.Arbitrary<string> {
  const hostile = hostileText();
  if (maxItems !== undefined) {
    const known = fc.constantFrom(...KNOWN_IDENTIFIERS).map(encodeURIComponent);
    const value = fc.oneof({ weight: 20, arbitrary: known }, { weight: 1, arbitrary: hostile });
    return fc.array(value, { maxLength: maxItems + 1 }).map((values) => values.join(','));
  }
  if (names !== undefined) return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...names) }, hostile);
  if (minimum === undefined || maximum === undefined) return hostile;
  const edges = [minimum - 1, minimum, maximum, maximum + 1].map(String);
  const number = fc.integer({ min: minimum, max: maximum }).map(String);
  return fc.oneof(
    { weight: 3, arbitrary: number },
    fc.constantFrom(...edges, ...HOSTILE_NUMBERS).map(encodeURIComponent),
    hostile,
  );
}

/** Written into a URL: escaped properly, escaped twice, or as arbitrary bytes. */
function hostileText(): fc.Arbitrary<string> {
  const text = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }));
  const escaped = text.map(encodeURIComponent);
  const bytes = fc
    .uint8Array({ minLength: 1, maxLength: 12 })
    .map((values) => [...values].map((value) => `%${value.toString(16).padStart(2, '0')}`).join(''));
  return fc.oneof(
    { weight: 6, arbitrary: escaped },
    { weight: 1, arbitrary: escaped.map(encodeURIComponent) },
    { weight: 2, arbitrary: bytes },
  );
}

function headersOf(): fc.Arbitrary<Record<string, string>> {
  const one = fc
    .constantFrom(...Object.keys(HEADERS))
    .chain((name) => fc.constantFrom(...(HEADERS[name] ?? [])).map((value) => [name, value] as const));
  return fc.array(one, { maxLength: 2 }).map((all) => Object.fromEntries(all));
}
