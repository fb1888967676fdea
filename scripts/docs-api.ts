import { ERROR_CODES } from '../src/domain/errors.ts';
import { PROBLEMS, type Problem } from '../src/http/response/problems.ts';
import { ERROR_EXAMPLES, PATH_EXAMPLES, startExampleService, UNCHANGED_EXAMPLE } from './docs-api-examples.ts';
import { code, table } from './docs-markdown.ts';

/*
 * Makes docs/api.md from the service's OpenAPI document.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly $ref: string }>>;
}

interface OpenApi {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation; readonly options: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<
      Record<string, { description: string; required: boolean; schema: { examples: readonly string[] } }>
    >;
  };
}

/** The complete document. It depends only on the code. */
export async function apiDocument(version: string): Promise<string> {
  const service = await startExampleService(version);
  try {
    const openApi = (await service.openApi()) as OpenApi;
    const endpoints = [];
    for (const [path, { get }] of Object.entries(openApi.paths)) {
      const example = PATH_EXAMPLES[path];
      if (example === undefined) throw new Error(`scripts/docs-api-examples.ts has no example for ${path}`);
      endpoints.push(endpointText(path, get, openApi, await service.show(example)));
    }
    const errors = [];
    for (const example of ERROR_EXAMPLES) errors.push(await service.show(example));
    return `${[
      HEAD,
      openApi.info.description,
      INTRODUCTION,
      IDENTIFIERS,
      RATE_LIMIT,
      FRESHNESS,
      `## Paths\n\n${table(['path', 'response'], pathRows(openApi))}`,
      ...endpoints,
      UNCHANGED,
      await service.show(UNCHANGED_EXAMPLE),
      '## Schemas',
      ...Object.entries(openApi.components.schemas).map(([name, schema]) => schemaText(name, schema)),
      `## Errors\n\n${ERRORS}`,
      table(['code', 'status', 'when', '`Cache-Control`', '`Retry-After`'], errorRows(openApi)),
      ...errors,
      `## Header fields\n\n${table(['field', 'meaning', 'example'], headerRows(openApi))}`,
      OPERATOR,
    ].join('\n\n')}\n`;
  } finally {
    await service.close();
  }
}

const HEAD = `<!-- Written by \`npm run docs\` from the service's own OpenAPI document. Change src/http/ or scripts/docs-api.ts. -->

# HTTP API`;

const INTRODUCTION = `Every response is JSON or an image. \`/openapi.json\` of every instance has the same description for programs. The examples are
responses of an instance that was started with \`npm start\` and has the sample catalog. Records, search results
and errors are one line, which is broken into lines here. Header sections omit the fields that every response has.

Every path accepts GET, HEAD (GET without the body) and OPTIONS (204, for browsers). Every other method is a 405. There are no
redirects. Unknown parameters are ignored. A listed parameter that is empty, given twice or not allowed is a 400.

A request body, \`Upgrade\` and \`Range\` are ignored. A URL may have 8,192 bytes (414 above that), the header section 24 KiB
(431). A request target may be an absolute URL; its host then replaces \`Host\`. No request takes longer than 12 s. A
response must be read within 60 s plus 1 s for each 16 KiB, or its connection is closed.

If several things are wrong with a request, the first of this list is reported: the rate limit (429), malformed HTTP (400), the
method (405), the path (404), a parameter (400), the channel (404), the image (404).`;

const RATE_LIMIT = `## Rate limit

By default a client may make 10 requests in any span of 30 seconds, on all paths together. A client is an IPv4 address or an IPv6
/64 network. Errors, HEAD, OPTIONS and 304 count; refused requests do not. Every response has the remaining number in \`RateLimit\`. A 429
has \`Retry-After\` (1 to 30 seconds); a request after exactly that time is admitted.

A connection is closed after the response to a refused request if its client has already sent the next one, or is still sending
the body.`;

const OPERATOR = `## Settings of the operator

${table(
  ['setting', 'effect on responses'],
  [
    [
      '`BASE_URL`',
      'URLs start with this origin. Without it they start with `Host`, which must be a name or address of at most 260 characters with an optional port (otherwise 400)',
    ],
    ['`URL_FORM=short`', 'records have image URLs in the short form. Both forms are always served'],
    [
      '`PICTURE_VERSIONS=on`',
      'image URLs in records end in `v=` and eight hex digits that change with the image. On requests, `v` is ignored',
    ],
    [
      '`NEGOTIATE=off`',
      'an image without a format is JPEG, or PNG with transparency. `/@handle` never returns the record. No response has `Vary`',
    ],
    [
      '`RATE_LIMIT`, `RATE_LIMIT_OVERRIDES`',
      'another limit, for all clients or for some. Clients without a limit get no rate-limit fields',
    ],
    ['`BLOCKED_CHANNELS`', '451 for these channels on every path. Searches omit them'],
    ['`CONTACT`', 'the index and 429 responses have it'],
    ['`SITE_URL`', 'the index links the playground and this page'],
  ],
)}`;

const IDENTIFIERS = `## Identifiers

${table(
  ['kind', 'form', 'letter case'],
  [
    ['channel ID', '`UC` and 22 of `A-Z` `a-z` `0-9` `_` `-`', 'significant'],
    [
      'handle',
      '1 to 30 letters, combining marks and digits of any script, `_` `-` `.` `·`, with at least one letter or digit. Read in Unicode’s form NFC',
      'ignored',
    ],
    ['user name', '1 to 60 of `A-Z` `a-z` `0-9` `_` `-` `.`', 'ignored'],
  ],
)}

An \`@\` (or \`%40\`) before a name makes it a handle, even if it looks like a channel ID. A bare name without a \`type\`
(\`/api/banner/name\`, \`/api/badge/name\`, \`/c/name\`, \`/name/tv\`) is tried as a handle. It is tried as a user name
only if there is definitely no such handle. \`/{identifier}\` alone accepts channel IDs and \`@handles\` only.

Empty path segments and a slash at the end are ignored: \`//api/channel/UC…/\` is \`/api/channel/UC…\`. A path with an encoded
slash, a backslash, a NUL, a dot segment or a broken escape is a 400.`;

const FRESHNESS = `## How old a response may be

${table(
  ['value', 'fresh for', '`max-age`', 'if the sources fail'],
  [
    [
      'record, and the channel of a name',
      '1 hour',
      'the rest of the hour; 60 s while some fields are missing',
      'the last record, up to 7 days, with `max-age=60`',
    ],
    ['image', '24 hours', '24 hours', 'the last image, up to 7 days'],
    [
      'search results',
      '10 minutes',
      'the rest of the ten minutes; 10 s if a source failed and others found something',
      'the last results, up to 1 day, with `max-age=60`',
    ],
    ['“no such channel”', '60 s', 'the rest of the minute', ''],
  ],
)}

A request for an expired record, image or search waits at most 3 s for a new one. Then it gets the old one, and the load continues. A
failed load is never stored as "no such channel". \`Cache-Status\` says where a response came from.`;

const UNCHANGED = `## Conditional requests

Every 200 response has an \`ETag\`. Send it as \`If-None-Match\`, which may be a list, contain weak validators or be \`*\`. The response is a
304 without a body if nothing has changed; the image is not encoded for that. Images also support \`If-Modified-Since\`, which is
ignored beside \`If-None-Match\`.

An image that is requested again is encoded again, smaller. It then has another \`ETag\`, and the earlier one no longer matches.`;

const ERRORS = `An error is \`application/problem+json\` with the schema [Problem](#problem). New codes may be added; existing ones stay.
\`Retry-After\` is the number of seconds to wait before the next attempt. Codes marked with "every path" are possible for every
request; the description of each path lists the others. A failure that concerns one channel or image is repeated for 15 s
without another attempt. If several sources fail, \`upstream_unavailable\` is reported before \`upstream_timeout\`, and that before
\`upstream_invalid\`.`;

function pathRows({ paths }: OpenApi): string[][] {
  return Object.entries(paths).map(([path, { get }]) => [`[\`${path}\`](#get-${anchor(path)})`, get.summary]);
}

/** The anchor of a heading, in GitHub's form. */
function anchor(path: string): string {
  return path.toLowerCase().replaceAll(/[^\w-]/g, '');
}

function endpointText(path: string, operation: Operation, openApi: OpenApi, example: string): string {
  const { summary, description, parameters = [], responses } = operation;
  const ofPath = parameters.filter((parameter) => parameter.in === 'path');
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const parts = [`## GET ${path}`, `${summary}. ${description}`];
  if (parameters.length > 0) {
    const rows = [...ofPath, ...ofQuery].map(parameterRow);
    parts.push(table(['parameter', 'in', 'allowed', 'default', 'meaning'], rows));
  }
  const replies = Object.entries(responses).map(([status, { $ref }]) => {
    const response = openApi.components.responses[lastPart($ref)] as Response;
    return { status, codes: lastPart($ref).split('.').slice(1), response };
  });
  const successes = replies.filter(({ status }) => Number(status) < 400);
  const failures = replies.filter(({ status }) => Number(status) >= 400);
  parts.push(
    table(
      ['status', 'body', 'meaning', 'header fields'],
      successes.map(({ status, response }) => responseRow(status, response, openApi)),
    ),
    errorsText(failures, openApi),
    example,
  );
  return parts.join('\n\n');
}

interface Failure {
  readonly status: string;
  readonly codes: readonly string[];
}

/** The errors of a path, except those of every path. */
function errorsText(failures: readonly Failure[], openApi: OpenApi): string {
  const everywhere = codesOfEveryPath(openApi);
  const own = failures.flatMap(({ status, codes }) => {
    const listed = codes.filter((name) => !everywhere.has(name)).map(code);
    return listed.length === 0 ? [] : [`${status} ${listed.join(' ')}`];
  });
  return `[Errors](#errors): ${['those of every path', ...own].join(', ')}.`;
}

function codesOfEveryPath({ paths }: OpenApi): Set<string> {
  const all = Object.values(paths).map(({ get }) =>
    Object.values(get.responses).flatMap(({ $ref }) => lastPart($ref).split('.').slice(1)),
  );
  return new Set(all.reduce((shared, one) => shared.filter((name) => one.includes(name))));
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): string[] {
  const omitted = required ? 'required' : schema.default === undefined ? '' : code(String(schema.default));
  return [code(name), place, typeOf(schema), omitted, description];
}

function responseRow(status: string, response: Response, openApi: OpenApi): string[] {
  const bodies = Object.entries(response.content ?? {}).map(([mediaType, { schema }]) =>
    schema.$ref === undefined ? code(mediaType) : `${code(mediaType)}: ${typeOf(schema)}`,
  );
  const everywhere = fieldsOfEveryResponse(openApi);
  const fields = Object.keys(response.headers).filter((name) => !everywhere.has(name));
  return [status, bodies.join(', ') || 'none', response.description, fields.map(code).join(', ')];
}

function fieldsOfEveryResponse({ components }: OpenApi): Set<string> {
  const all = Object.values(components.responses).map(({ headers }) => Object.keys(headers));
  return new Set(all.reduce((shared, one) => shared.filter((name) => one.includes(name))));
}

function errorRows(openApi: OpenApi): string[][] {
  const everywhere = codesOfEveryPath(openApi);
  return ERROR_CODES.map((name) => {
    const { status, description, cacheControl = 'no-store', retryAfterSeconds }: Problem = PROBLEMS[name];
    const age = cacheControl === 'what is left' ? '`public, max-age=` the rest of its minute' : code(cacheControl);
    return [
      everywhere.has(name) ? `${code(name)} (every path)` : code(name),
      String(status),
      description,
      age,
      retryAfterSeconds === undefined ? '' : 'yes',
    ];
  });
}

function headerRows(openApi: OpenApi): string[][] {
  const everywhere = fieldsOfEveryResponse(openApi);
  return Object.entries(openApi.components.headers).map(([name, { description, schema }]) => [
    everywhere.has(name) ? `${code(name)} (every response)` : code(name),
    description,
    code(schema.examples[0] ?? ''),
  ]);
}

function schemaText(name: string, schema: Schema): string {
  const fields = table(['field', 'type', 'meaning'], fieldRows(schema, ''));
  return `### ${name}\n\n${schema.description ?? ''}\n\n${fields}`;
}

function fieldRows(schema: Schema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const known = field.anyOf?.find(({ type }) => type !== 'null') ?? field;
    const inner = known.properties === undefined ? known.items : known;
    const path = `${prefix}${name}`;
    const row = [code(path), typeOf(field), field.description ?? known.description ?? ''];
    return [row, ...fieldRows(inner ?? {}, `${path}${known.type === 'array' ? '[]' : ''}.`)];
  });
}

function typeOf(schema: Schema): string {
  const {
    $ref,
    anyOf,
    type = '',
    enum: names,
    items,
    minimum,
    maximum,
    minLength,
    maxLength,
    minItems,
    maxItems,
    pattern,
    format,
  } = schema;
  if ($ref !== undefined) return `[${lastPart($ref)}](#${lastPart($ref).toLowerCase()})`;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (names !== undefined) return names.map(code).join(' ');
  if (maxItems !== undefined) return `${minItems} to ${maxItems} values, separated by commas`;
  if (items !== undefined) return `array of ${typeOf(items)}`;
  if (minimum !== undefined)
    return `${type}, ${maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`}`;
  if (minLength !== undefined) return `${type}, ${minLength} to ${maxLength} characters`;
  if (pattern !== undefined) return `${type} like ${code(pattern)}`;
  return format === undefined ? type : `${type}, ${format}`;
}

function lastPart(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}
