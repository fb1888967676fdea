import Schema from 'typebox/schema';
import { decodePicture } from './picture.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: { readonly enum?: readonly string[]; readonly minimum?: number; readonly maximum?: number };
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

/** As much of OpenAPI 3.1 as this service's document uses. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

const validators = new WeakMap<object, ReturnType<typeof Schema.Compile>>();

function validatorOf(schema: object): ReturnType<typeof Schema.Compile> {
  const validator = validators.get(schema) ?? Schema.Compile(schema);
  validators.set(schema, validator);
  return validator;
}

/**
 * What is not as the document declares it: the status, the media type, JSON that does not parse or fit its schema, a
 * picture that cannot be decoded. `undefined` when all is. A method that the document does not name counts as GET.
 */
export async function findUndeclared(
  document: OpenApiDocument,
  { route, method }: { readonly route: string; readonly method: string },
  { status, headers, bytes }: GivenAnswer,
): Promise<string | undefined> {
  const path = document.paths[route];
  const operation = path?.[method.toLowerCase()] ?? path?.get;
  const response = operation?.responses[String(status)];
  if (response === undefined) return `status ${status} is not declared`;
  const contents = Object.entries(response.content ?? {});
  const contentType = String(headers['content-type'] ?? '').split(';')[0];
  if (contents.length === 0) return bytes.length === 0 ? undefined : `status ${status} came with a body`;
  const declared = contents.find(([mediaType]) => mediaType === contentType)?.[1];
  if (declared === undefined) return `"${contentType}" is not declared for status ${status}`;
  if (method === 'HEAD') return bytes.length === 0 ? undefined : 'HEAD came with a body';
  return contentType?.startsWith('image/')
    ? findPictureFault(bytes, contentType)
    : findJsonFault(bytes, declared.schema);
}

async function findPictureFault(bytes: Buffer, contentType: string): Promise<string | undefined> {
  try {
    const { format } = await decodePicture(bytes);
    return `image/${format}` === contentType ? undefined : `a picture of type ${format} is called ${contentType}`;
  } catch (error) {
    return `the picture cannot be decoded: ${(error as Error).message}`;
  }
}

function findJsonFault(bytes: Buffer, schema: object): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return validatorOf(schema).Check(value) ? undefined : `the JSON does not fit its schema: ${bytes.toString('utf8')}`;
  } catch (error) {
    return `the JSON cannot be parsed: ${(error as Error).message}`;
  }
}
