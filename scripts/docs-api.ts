import { ERROR_CODES } from '../src/domain/errors.ts';
import { COMMON_FIELDS, OTHER_FIELDS } from '../src/http/openapi/responses.ts';
import { PROBLEMS, type Problem } from '../src/http/response/problems.ts';
import { ERROR_EXAMPLE, type Example, startExampleService } from './docs-api-examples.ts';
import { code, table } from './docs-markdown.ts';

/* Makes docs/api.md from the service's OpenAPI document. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
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

interface Reference {
  readonly $ref: string;
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
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly responses: Readonly<Record<string, Reference>>;
}

interface OpenApi {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** The complete document. It depends only on the code. */
export async function apiDocument(version: string): Promise<string> {
  const service = await startExampleService(version);
  try {
    const openApi = (await service.openApi()) as OpenApi;
    assertAllPathsHaveSections(openApi);
    const sections = [];
    for (const section of SECTIONS) {
      const examples = [];
      for (const example of section.examples) examples.push(await service.show(example));
      sections.push(sectionText(section, openApi, examples));
    }
    return `${[
      HEAD,
      openApi.info.description.split('\n', 1)[0],
      INTRODUCTION,
      IDENTIFIERS,
      RATE_LIMIT,
      FRESHNESS,
      ...sections,
      UNCHANGED,
      `## The fields of a record\n\n${recordText(openApi)}`,
      `## Errors\n\n${ERRORS}`,
      table(['code', 'status', 'when'], errorRows()),
      `Errors have \`Cache-Control: no-store\`, except ${storableErrors()}. ${namesWhere(hasRetryAfter)} have \`Retry-After\`.`,
      await service.show(ERROR_EXAMPLE),
      `## Header fields\n\n${headerLines()}`,
    ].join('\n\n')}\n`;
  } finally {
    await service.close();
  }
}

const HEAD = `<!-- Written by \`npm run docs\` from the service's own OpenAPI document. Change src/http/ or scripts/docs-api.ts. -->

# HTTP API`;

const INTRODUCTION = `Every response is JSON or an image. \`/openapi.json\` describes all of it for programs, with every schema. The examples are responses of an instance
with the sample catalog; JSON is broken into lines here, and header sections omit the fields that every response has.

Every path accepts GET, HEAD and OPTIONS. There are no redirects. Unknown parameters are ignored, and so are request bodies and \`Range\`.
A listed parameter that is empty, given twice (but for \`ids\`) or not allowed is a 400. A URL may have 8,192 bytes. No request takes
longer than 12 s. A response must be read within 60 s plus 1 s for each 16 KiB.

If several things are wrong with a request, the first of this list is reported: the rate limit (429), malformed HTTP (400), the
method (405), the path (404), a parameter (400), the channel (404), the image (404).`;

const IDENTIFIERS = `## Identifiers

${table(
  ['kind', 'form', 'letter case'],
  [
    ['channel ID', '`UC` and 22 of `A-Z` `a-z` `0-9` `_` `-`', 'significant'],
    [
      'handle',
      '1 to 30 letters, combining marks and digits of any script, `_` `-` `.` `·`, with at least one letter or digit',
      'ignored',
    ],
    ['user name', '1 to 60 of `A-Z` `a-z` `0-9` `_` `-` `.`', 'ignored'],
  ],
)}

\`{identifier}\` is one of them where a path says nothing else. An \`@\` makes a name a handle. A bare name is tried as a handle, and as a user
name only if there is definitely no such handle.`;

const RATE_LIMIT = `## Rate limit

By default a client may make 10 requests in any span of 30 seconds, on all paths together. A client is an IPv4 address or an IPv6
/64 network. Errors, HEAD, OPTIONS and 304 count; refused requests do not. After exactly the seconds in \`Retry-After\`, a request is
admitted. A 429 closes its connection, except that of a trusted proxy. A client may have 128 connections at once.`;

const FRESHNESS = `## How old a response may be

${table(
  ['value', 'fresh for', 'if the sources fail'],
  [
    [
      'record, and the channel of a name',
      '1 hour; 60 s if its About panel could not be read',
      'the last one, up to 7 days',
    ],
    ['image', '24 hours', 'the last one, up to 7 days'],
    ['search results', '10 minutes; 10 s if a source failed and others found something', 'the last ones, up to 1 day'],
    ['“no such channel”', '60 s', ''],
  ],
)}

\`max-age\` is what is left of that time. Images have a day; stale records and search results have 60 s. A request for a stale value waits at
most 3 s for a new one. Then it gets the stale one, and the load continues.`;

const UNCHANGED = `## Conditional requests

Every 200 response has an \`ETag\`. If it is sent as \`If-None-Match\` and nothing has changed, the response is a 304 without a body.
Images also support \`If-Modified-Since\`. Equal requests for an image have equal bytes and one \`ETag\` until the original changes.`;

/** The identifier of most paths, which the introduction describes. */
const ANY_IDENTIFIER = 'A channel ID, an @handle, or a name (a handle, else a user name).';

const ERRORS = `Errors are \`application/problem+json\` (RFC 9457). New codes may be added. A failure that concerns one channel or image is repeated for
15 s without another attempt.`;

/** Paths that are described together, because they have the same parameters, responses and errors. */
interface Section {
  readonly title: string;
  readonly paths: readonly string[];
  readonly examples: readonly Example[];
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Records',
    paths: ['/api/channel/{identifier}', '/channel/{identifier}', '/user/{identifier}', '/c/{identifier}'],
    examples: [{ url: '/api/channel/lanternhours?type=handle' }],
  },
  { title: 'Many records', paths: ['/api/channels'], examples: [] },
  {
    title: 'Images',
    paths: [
      '/api/banner/{identifier}',
      '/api/banner/{identifier}/{variant}',
      '/{identifier}',
      '/{identifier}/{variant}',
    ],
    examples: [
      {
        url: '/@pennantsample/tv?width=640',
        isHead: true,
        headers: { Accept: 'image/avif,image/webp,*/*' },
      },
    ],
  },
  { title: 'Search', paths: ['/api/search'], examples: [{ url: '/api/search?q=saltmarrow&limit=1' }] },
  {
    title: 'Badges',
    paths: [
      '/api/badge/{identifier}.svg',
      '/youtube/channel/subscribers/{identifier}',
      '/youtube/channel/views/{identifier}',
    ],
    examples: [{ url: '/api/badge/@pennantsample.svg?style=flat-square&label=on%20YouTube', isHead: true }],
  },
  {
    title: 'Counts for badges',
    paths: ['/api/badge/{identifier}'],
    examples: [{ url: '/api/badge/@pennantsample?metric=views' }],
  },
  { title: 'The service', paths: ['/', '/problems', '/openapi.json', '/favicon.ico'], examples: [] },
];

function assertAllPathsHaveSections({ paths }: OpenApi): void {
  const described = SECTIONS.flatMap((section) => section.paths);
  const missing = Object.keys(paths).filter((path) => !described.includes(path));
  if (missing.length > 0) throw new Error(`scripts/docs-api.ts has no section for ${missing.join(', ')}`);
}

function sectionText({ title, paths }: Section, openApi: OpenApi, examples: readonly string[]): string {
  const operations = paths.map((path) => ({ path, ...(openApi.paths[path]?.get as Operation) }));
  const parameters = operations.flatMap((operation) => parametersOf(operation, openApi));
  // If two paths have a parameter, the first path describes it, because it has the defaults.
  const byName = new Map(
    parameters
      .filter(isDescribedOnce)
      .toReversed()
      .map((parameter) => [parameter.name, parameter]),
  );
  const parts = [`## ${title}`, pathLines(operations, openApi)];
  if (byName.size > 0) parts.push('Parameters:', [...byName.values()].toReversed().map(parameterLine).join('\n'));
  parts.push(`Body: ${mediaTypes(operations, openApi).map(code).join(', ')}.`, ...examples);
  return parts.join('\n\n');
}

function parametersOf({ parameters = [] }: Operation, { components }: OpenApi): Parameter[] {
  return parameters.map((given) =>
    '$ref' in given ? (components.parameters[lastPart(given.$ref)] as Parameter) : given,
  );
}

function sentencesOf(description: string): string[] {
  return description.split(/(?<=[.]) /);
}

/** The identifier is described beside each path. */
function isDescribedOnce({ name }: Parameter): boolean {
  return name !== 'identifier';
}

/** A sentence about several paths stands beside the first of them. */
function pathLines(operations: readonly (Operation & { readonly path: string })[], openApi: OpenApi): string {
  const written = new Set<string>();
  const lines = operations.map((operation) => {
    const own = sentencesOf(operation.description).filter((sentence) => !written.has(sentence));
    for (const sentence of own) written.add(sentence);
    const identifier = parametersOf(operation, openApi).find(({ name }) => name === 'identifier')?.description;
    const isUsual = identifier === undefined || identifier === ANY_IDENTIFIER;
    const texts = [`${operation.summary}.`, ...own, ...(isUsual ? [] : [`Identifier: ${identifier}`])];
    return `- ${code(operation.path)}: ${texts.join(' ')}`;
  });
  return lines.join('\n');
}

function mediaTypes(operations: readonly Operation[], { components }: OpenApi): string[] {
  const successes = operations.map(({ responses }) => components.responses[lastPart(responses[200]?.$ref ?? '')]);
  return [...new Set(successes.flatMap((response) => Object.keys(response?.content ?? {})))];
}

/** The description says what the pattern of a parameter means. */
function parameterLine({ name, in: place, required, description, schema: { pattern, ...schema } }: Parameter): string {
  const omitted = required
    ? ', required'
    : schema.default === undefined
      ? ''
      : `, default ${code(String(schema.default))}`;
  return `- ${code(place === 'path' ? `{${name}}` : name)} (${typeOf(schema)}${omitted}): ${description}`;
}

function errorRows(): string[][] {
  return ERROR_CODES.map((name) => {
    const { status, description } = PROBLEMS[name];
    return [code(name), String(status), description];
  });
}

function storableErrors(): string {
  const names = ERROR_CODES.filter((name) => 'cacheControl' in PROBLEMS[name]);
  return names
    .map((name) => {
      const { cacheControl }: Problem = PROBLEMS[name];
      return `${code(name)} (${cacheControl === 'remaining-ttl' ? 'what is left of its minute' : code(cacheControl ?? '')})`;
    })
    .join(' and ');
}

function namesWhere(matches: (problem: Problem) => boolean): string {
  const names = ERROR_CODES.filter((name) => matches(PROBLEMS[name])).map(code);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function hasRetryAfter({ retryAfterSeconds }: Problem): boolean {
  return retryAfterSeconds !== undefined;
}

/** Fields that do not explain themselves. */
const EXPLAINED_FIELDS = ['RateLimit-Policy', 'RateLimit', 'Cache-Status', 'Last-Modified', 'Vary'];

function headerLines(): string {
  const lines = Object.entries({ ...COMMON_FIELDS, ...OTHER_FIELDS })
    .filter(([name]) => EXPLAINED_FIELDS.includes(name))
    .map(([name, { description }]) => `- ${code(name)}: ${description}`);
  return ['Any page may read, embed and measure any response.', lines.join('\n')].join('\n\n');
}

/** The images of `bannerUrls` are the variants, which the section about images describes. */
function recordText({ components }: OpenApi): string {
  const record = components.schemas.ChannelRecord as Schema;
  return `${record.description}\n\n${fieldLines(record, '').join('\n')}`;
}

function fieldLines(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const line = `- ${code(path)} (${typeOf(field)})${field.description === undefined ? '' : `: ${field.description}`}`;
    return [line, ...fieldLines(field.items ?? {}, `${path}[].`)];
  });
}

function typeOf(schema: Schema): string {
  const {
    anyOf,
    type: types = '',
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
  const type = [types].flat().join(' or ');
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (names !== undefined) return names.map(code).join(' ');
  if (maxItems !== undefined) return `${minItems} to ${maxItems} values, separated by commas`;
  if (items !== undefined) return `array of ${typeOf(items)}`;
  if (minimum !== undefined)
    return `${type}, ${maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`}`;
  if (minLength !== undefined) return `${type}, ${minLength} to ${maxLength} characters`;
  if (pattern !== undefined) return `${type}, ${code(pattern)}`;
  return format === undefined ? type : `${type}, ${format}`;
}

function lastPart(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}
