/** A response field in the form of OpenAPI. */
interface HeaderField {
  readonly description: string;
  /** True when every response that names the field has it. */
  readonly required: boolean;
  readonly schema: { readonly type: 'string'; readonly examples: readonly [string] };
}

function always(description: string, example: string): HeaderField {
  return { description, required: true, schema: { type: 'string', examples: [example] } };
}

function sometimes(description: string, example: string): HeaderField {
  return { ...always(description, example), required: false };
}

/** Fields of every response of the public listener. */
const COMMON_FIELDS = {
  'X-Request-Id': always('The service’s ID of the request. The log has it too.', 'q3T1xKZ0fUvB-7'),
  'Access-Control-Allow-Origin': always('Any page may read any response.', '*'),
  'Access-Control-Expose-Headers': always(
    'The fields that scripts of a page may read.',
    'RateLimit, ETag, Retry-After',
  ),
  'Cross-Origin-Resource-Policy': always('Any page may embed any response.', 'cross-origin'),
  'Timing-Allow-Origin': always('Any page may measure any response.', '*'),
  'X-Content-Type-Options': always('Browsers must not guess the media type.', 'nosniff'),
  'RateLimit-Policy': sometimes(
    'The client’s limit: `q` requests in any `w` seconds. Clients without a limit do not get this field and the next four.',
    '"default";q=10;w=30',
  ),
  RateLimit: sometimes(
    'Requests left after this one (`r`), and seconds until one more is free (`t`); draft-ietf-httpapi-ratelimit-headers.',
    '"default";r=9;t=30',
  ),
  'X-RateLimit-Limit': sometimes('Older form of `q`.', '10'),
  'X-RateLimit-Remaining': sometimes('Older form of `r`.', '9'),
  'X-RateLimit-Reset': sometimes('Older form of `t`.', '30'),
};

/** Every field that the service sets. Fields of HTTP itself (`Date`, `Content-Length`) are omitted. */
export const HEADER_FIELDS = {
  ...COMMON_FIELDS,
  'Cache-Control': always(
    'How long a cache may keep the response: the rest of a record’s hour or of a search’s ten minutes, a day for pictures, `no-store` for most errors.',
    'public, max-age=3600',
  ),
  'Cache-Status': sometimes(
    'Whether the response came from the cache (RFC 9211): `hit`, or `fwd` with the reason for asking a source. Missing if nothing was looked up.',
    'pennant; hit; ttl=3412',
  ),
  ETag: always(
    'A strong validator. If it is sent as `If-None-Match` and nothing has changed, the response is a 304.',
    '"5d41402abc4b2a76"',
  ),
  'Last-Modified': always('When the picture’s original was first stored here.', 'Thu, 01 Jan 2026 00:00:00 GMT'),
  'Content-Disposition': always(
    'The name under which a browser saves the picture.',
    'inline; filename="UCPennantSample00000001A-tv.avif"',
  ),
  Vary: sometimes('On responses whose format follows `Accept`: a cache must store one response per format.', 'Accept'),
  'Retry-After': always('Seconds until the next attempt.', '12'),
  Allow: always('The methods that the service supports.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Methods': always('The methods that a page may use.', 'GET, HEAD, OPTIONS'),
  'Access-Control-Allow-Headers': always('The fields that a page may send.', '*'),
  'Access-Control-Max-Age': always('Seconds for which a browser may cache this.', '86400'),
} satisfies Record<string, HeaderField>;

export type HeaderFieldName = keyof typeof HEADER_FIELDS;
export type HeaderFields = Readonly<Record<string, { readonly $ref: string } | HeaderField>>;

/** Fields that a response has only in some of its forms. */
export function optionalHeaders(names: readonly HeaderFieldName[]): HeaderFields {
  return Object.fromEntries(names.map((name) => [name, { ...HEADER_FIELDS[name], required: false }]));
}

/** The `headers` of a response: the fields of every response, and these. */
export function headersOf(...names: readonly HeaderFieldName[]): HeaderFields {
  const all = [...Object.keys(COMMON_FIELDS), ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
