import { ERROR_CODES } from '../src/domain/errors.ts';
import { PROBLEMS, type Problem } from '../src/http/response/problems.ts';
import { ERROR_EXAMPLES, PATH_EXAMPLES, startExampleService, UNCHANGED_EXAMPLE } from './docs-api-examples.ts';
import { code, table } from './docs-markdown.ts';

/*
 * docs/api.md, from the OpenAPI document that the service answers.
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
  readonly description?: string;
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

/** The whole document; the same for the same code. */
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
      `## Paths\n\n${table(['path', 'answers'], pathRows(openApi))}`,
      ...endpoints,
      UNCHANGED,
      await service.show(UNCHANGED_EXAMPLE),
      '## Schemas',
      ...Object.entries(openApi.components.schemas).map(([name, schema]) => schemaText(name, schema)),
      `## Errors\n\n${ERRORS}`,
      table(['code', 'status', 'when', '`Cache-Control`', '`Retry-After`'], errorRows()),
      ...errors,
      `## Header fields\n\n${table(['field', 'meaning', 'for example'], headerRows(openApi))}`,
    ].join('\n\n')}\n`;
  } finally {
    await service.close();
  }
}

const HEAD = `<!-- Written by \`npm run docs\` from the service's own OpenAPI document. Change src/http/ or scripts/docs-api.ts. -->

# HTTP API`;

const INTRODUCTION = `Every answer is JSON or an image. The same, for programs, is at \`/openapi.json\` of every instance. The examples are
answered by an instance that was started with \`npm start\` and holds the sample catalog; JSON is broken into lines here to
be read, and header sections leave out the fields that every answer carries.

Every path answers GET, HEAD (the same without the body) and OPTIONS (204, what a browser may ask for). Parameters that
are not listed are ignored; a listed one that is empty, given twice or outside what is allowed is a 400.

A body, \`Upgrade\` and \`Range\` are ignored. A URL has at most 8,192 bytes (414) and the whole header section 24 KiB (431);
\`Host\`, where the operator has not set \`BASE_URL\`, at most 260 characters.`;

const UNCHANGED = `## Unchanged answers

Every 200 has an \`ETag\`. Sent back as \`If-None-Match\` (several, weak ones and \`*\` will do), it is answered with 304 and no
body while the answer is the same; a picture need not even be made for that. Pictures take \`If-Modified-Since\` as well.`;

const ERRORS = `An error is \`application/problem+json\` with the schema [Problem](#problem). New codes may be added; none goes
away. \`Retry-After\` says in seconds when asking again makes sense.`;

function pathRows({ paths }: OpenApi): string[][] {
  return Object.entries(paths).map(([path, { get }]) => [`[\`${path}\`](#get-${anchor(path)})`, get.summary]);
}

/** As GitHub makes them of a heading. */
function anchor(path: string): string {
  return path.toLowerCase().replaceAll(/[^\w-]/g, '');
}

function endpointText(path: string, operation: Operation, openApi: OpenApi, example: string): string {
  const { summary, description, parameters = [], responses } = operation;
  const ofPath = parameters.filter((parameter) => parameter.in === 'path');
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const parts = [`## GET ${path}`, `${summary}.${description === undefined ? '' : ` ${description}`}`];
  if (parameters.length > 0) {
    const rows = [...ofPath, ...ofQuery].map(parameterRow);
    parts.push(table(['parameter', 'in', 'allowed', 'when left out', 'meaning'], rows));
  }
  const answers = Object.entries(responses).map(([status, { $ref }]) => {
    const response = openApi.components.responses[lastPart($ref)] as Response;
    return { status, codes: lastPart($ref).split('.').slice(1), response };
  });
  const successes = answers.filter(({ status }) => Number(status) < 400);
  const failures = answers.filter(({ status }) => Number(status) >= 400);
  parts.push(
    table(
      ['status', 'body', 'meaning', 'header fields'],
      successes.map(({ status, response }) => answerRow(status, response, openApi)),
    ),
    `[Errors](#errors): ${failures.map(({ status, codes }) => `${status} ${codes.map(code).join(' ')}`).join(', ')}.`,
    example,
  );
  return parts.join('\n\n');
}

function parameterRow({ name, in: place, required, description, schema }: Parameter): string[] {
  const omitted = required ? 'required' : schema.default === undefined ? '' : code(String(schema.default));
  return [code(name), place, typeOf(schema), omitted, description];
}

function answerRow(status: string, response: Response, openApi: OpenApi): string[] {
  const bodies = Object.entries(response.content ?? {}).map(([mediaType, { schema }]) =>
    schema.$ref === undefined ? code(mediaType) : `${code(mediaType)}: ${typeOf(schema)}`,
  );
  const everywhere = fieldsOfEveryAnswer(openApi);
  const fields = Object.keys(response.headers).filter((name) => !everywhere.has(name));
  return [status, bodies.join(', ') || 'none', response.description, fields.map(code).join(', ')];
}

function fieldsOfEveryAnswer({ components }: OpenApi): Set<string> {
  const all = Object.values(components.responses).map(({ headers }) => Object.keys(headers));
  return new Set(all.reduce((shared, one) => shared.filter((name) => one.includes(name))));
}

function errorRows(): string[][] {
  return ERROR_CODES.map((name) => {
    const { status, description, cacheControl, retryAfterSeconds }: Problem = PROBLEMS[name];
    const age = cacheControl === 'what is left' ? '`public, max-age=` what is left of a minute' : code(cacheControl);
    return [code(name), String(status), description, age, retryAfterSeconds === undefined ? '' : 'yes'];
  });
}

function headerRows(openApi: OpenApi): string[][] {
  const everywhere = fieldsOfEveryAnswer(openApi);
  return Object.entries(openApi.components.headers).map(([name, { description, schema }]) => [
    everywhere.has(name) ? `${code(name)} (every answer)` : code(name),
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
    pattern,
    format,
  } = schema;
  if ($ref !== undefined) return `[${lastPart($ref)}](#${lastPart($ref).toLowerCase()})`;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ');
  if (names !== undefined) return names.map(code).join(' ');
  if (items !== undefined) return `array of ${typeOf(items)}`;
  if (minimum !== undefined) return `${type}, ${minimum} to ${maximum}`;
  if (minLength !== undefined) return `${type}, ${minLength} to ${maxLength} characters`;
  if (pattern !== undefined) return `${type} like ${code(pattern)}`;
  return format === undefined ? type : `${type}, ${format}`;
}

function lastPart(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}
