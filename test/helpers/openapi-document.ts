import assert from 'node:assert/strict';
import Schema from 'typebox/schema';
import type { SentAnswer } from './http-request.ts';
import { decodePicture } from './picture.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: {
    readonly enum?: readonly string[];
    readonly minimum?: number;
    readonly maximum?: number;
    readonly maxItems?: number;
  };
}

interface Reference {
  readonly $ref: string;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers: Readonly<Record<string, Reference | { readonly required: boolean }>>;
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  /** References to `components.responses`. */
  readonly responses: Readonly<Record<string, Reference>>;
}

/** The part of OpenAPI 3.1 that this service's document uses. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, { readonly required: boolean }>>;
    readonly responses: Readonly<Record<string, Response>>;
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
const FRAMING = new Set(['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding']);

/**
 * Checks the status, the header, the media type, the body against its schema, and a picture by decoding it. A method that
 * the document does not name counts as GET.
 *
 * @throws Error that says what is not as the document declares it
 */
export async function assertDeclared(
  document: OpenApiDocument,
  { route, method }: { readonly route: string; readonly method: string },
  { status, headers, bytes }: SentAnswer,
): Promise<void> {
  const path = document.paths[route];
  const reference = (path?.[method.toLowerCase()] ?? path?.get)?.responses[status];
  const response = document.components.responses[nameIn(reference)];
  assert(response !== undefined, `status ${status} is not declared`);
  assertHeaders(document, response, headers);
  const { content = {} } = response;
  const contentType = String(headers['content-type'] ?? '').split(';')[0] as string;
  const hasContent = Object.keys(content).length > 0;
  const declared = content[contentType];
  assert(!hasContent || declared !== undefined, `"${contentType}" is not declared for status ${status}`);
  if (declared === undefined || method === 'HEAD') {
    assert.equal(bytes.length, 0, `status ${status} to ${method} came with a body`);
  } else if (contentType.startsWith('image/')) {
    assert.equal(`image/${(await decodePicture(bytes)).format}`, contentType);
  } else {
    const text = bytes.toString('utf8');
    assert(validatorOf(declared.schema, document).Check(JSON.parse(text)), `the JSON does not fit its schema: ${text}`);
  }
}

function nameIn(reference: Reference | undefined): string {
  return reference?.$ref.split('/').at(-1) ?? '';
}

function assertHeaders({ components }: OpenApiDocument, response: Response, headers: SentAnswer['headers']): void {
  const declared = Object.entries(response.headers).map(([name, header]) => ({
    name: name.toLowerCase(),
    isRequired: ('$ref' in header ? components.headers[nameIn(header)] : header)?.required !== false,
  }));
  const names = new Set(declared.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(headers).filter((name) => !FRAMING.has(name) && !names.has(name)),
    [],
    'headers are not declared',
  );
  const required = declared.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  assert.deepEqual(
    required.filter((name) => headers[name] === undefined),
    [],
    'headers are missing',
  );
}
