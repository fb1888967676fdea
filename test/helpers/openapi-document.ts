import Schema from 'typebox/schema';
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

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers: Readonly<Record<string, { readonly $ref: string } | { readonly required: boolean }>>;
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  /** References to `components.responses`. */
  readonly responses: Readonly<Record<string, { readonly $ref: string }>>;
}

/** As much of OpenAPI 3.1 as this service's document uses. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly headers: Readonly<Record<string, { readonly required: boolean }>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

const validators = new WeakMap<object, ReturnType<typeof Schema.Compile>>();

/** A schema may refer to the document's others, so it is compiled inside the document. */
function validatorOf(schema: object, { components }: OpenApiDocument): ReturnType<typeof Schema.Compile> {
  const validator = validators.get(schema) ?? Schema.Compile({ ...schema, components });
  validators.set(schema, validator);
  return validator;
}

/** What HTTP itself puts on an answer, and what `content` declares. */
const FRAMING = new Set(['date', 'connection', 'keep-alive', 'content-length', 'content-type', 'transfer-encoding']);

/**
 * What is not as the document declares it: the status, a header, the media type, JSON that does not parse or fit its
 * schema, a picture that cannot be decoded. `undefined` when all is. A method that the document does not name counts
 * as GET.
 */
export async function findUndeclared(
  document: OpenApiDocument,
  { route, method }: { readonly route: string; readonly method: string },
  { status, headers, bytes }: GivenAnswer,
): Promise<string | undefined> {
  const path = document.paths[route];
  const operation = path?.[method.toLowerCase()] ?? path?.get;
  const reference = operation?.responses[String(status)];
  const response = document.components.responses[reference?.$ref.split('/').at(-1) ?? ''];
  if (response === undefined) return `status ${status} is not declared`;
  const headerFault = findHeaderFault(document, response, headers);
  if (headerFault !== undefined) return headerFault;
  const contents = Object.entries(response.content ?? {});
  const contentType = String(headers['content-type'] ?? '').split(';')[0];
  if (contents.length === 0) return bytes.length === 0 ? undefined : `status ${status} came with a body`;
  const declared = contents.find(([mediaType]) => mediaType === contentType)?.[1];
  if (declared === undefined) return `"${contentType}" is not declared for status ${status}`;
  if (method === 'HEAD') return bytes.length === 0 ? undefined : 'HEAD came with a body';
  return contentType?.startsWith('image/')
    ? findPictureFault(bytes, contentType)
    : findJsonFault(bytes, validatorOf(declared.schema, document));
}

function findHeaderFault(
  { components }: OpenApiDocument,
  response: Response,
  headers: GivenAnswer['headers'],
): string | undefined {
  const declared = Object.keys(response.headers);
  const declaredLower = new Set(declared.map((name) => name.toLowerCase()));
  const undeclared = Object.keys(headers).filter((name) => !FRAMING.has(name) && !declaredLower.has(name));
  if (undeclared.length > 0) return `the header ${undeclared.join(', ')} is not declared`;
  const required = declared.filter(
    (name) => (inlineHeader(response, name) ?? components.headers[name])?.required !== false,
  );
  const missing = required.filter((name) => headers[name.toLowerCase()] === undefined);
  return missing.length > 0 ? `the header ${missing.join(', ')} is missing` : undefined;
}

/** A header field that the response declares itself, instead of a reference. */
function inlineHeader({ headers }: Response, name: string): { readonly required: boolean } | undefined {
  const declared = headers[name];
  return declared !== undefined && 'required' in declared ? declared : undefined;
}

async function findPictureFault(bytes: Buffer, contentType: string): Promise<string | undefined> {
  try {
    const { format } = await decodePicture(bytes);
    return `image/${format}` === contentType ? undefined : `a picture of type ${format} is called ${contentType}`;
  } catch (error) {
    return `the picture cannot be decoded: ${(error as Error).message}`;
  }
}

function findJsonFault(bytes: Buffer, validator: ReturnType<typeof Schema.Compile>): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return validator.Check(value) ? undefined : `the JSON does not fit its schema: ${bytes.toString('utf8')}`;
  } catch (error) {
    return `the JSON cannot be parsed: ${(error as Error).message}`;
  }
}
