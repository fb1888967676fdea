import { ERROR_CODES } from '../../domain/errors.ts';
import { describeOperations, type OperationSchema, TAGS } from './operations.ts';
import { HEADER_FIELDS, preflightResponses, type ResponseSchema, type Responses } from './responses.ts';
import { COMPONENT_SCHEMAS } from './schemas.ts';

interface OpenApiOptions {
  readonly version: string;
  /** Contact address of the operator. */
  readonly contact: string | undefined;
}

/** The OpenAPI 3.1 document of `/openapi.json`. @param serverUrl the base of the request */
export function openApiDocument({ version, contact }: OpenApiOptions, serverUrl: string): object {
  const shared: Record<string, ResponseSchema> = {};

  /** Moves the responses to `components.responses` and returns references, because many operations have the same ones. */
  function share(responses: Responses): object {
    const references = Object.entries(responses).map(([status, response]) => {
      const name = componentNameOf(status, response);
      shared[name] = response;
      return [status, { $ref: `#/components/responses/${name}` }];
    });
    return Object.fromEntries(references);
  }

  const paths = Object.entries(describeOperations()).map(([url, operation]) => {
    const { id, tag, summary, description, path, query, responses } = operation;
    const get = {
      operationId: `get${id}`,
      tags: [tag],
      summary,
      description,
      ...parametersOf(path, query),
      responses: share(responses),
    };
    const options = {
      operationId: `options${id}`,
      tags: [tag],
      summary: 'CORS preflight',
      description: 'Browsers send this before some requests of a page to another origin.',
      ...parametersOf(path),
      responses: share(preflightResponses(path !== undefined)),
    };
    return [url, { get, head: { ...get, operationId: `head${id}` }, options }];
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pennant',
      version,
      description: 'A video channel’s metadata as JSON, its banner and avatar as images. No key, no login.',
      contact: { name: contact ?? 'The operator of the instance' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    // No request needs a key.
    security: [],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: { schemas: COMPONENT_SCHEMAS, headers: HEADER_FIELDS, responses: shared },
  };
}

function parametersOf(path: OperationSchema['path'] = {}, query: OperationSchema['query'] = {}): object {
  const ofQuery = Object.entries(query).map(([name, { schema, description, example, isRequired }]) => {
    // A list has its values in one parameter: ids=A,B.
    const style = schema.type === 'array' ? { style: 'form', explode: false } : {};
    return { schema, in: 'query', name, required: isRequired, description, example, ...style };
  });
  const ofPath = Object.entries(path).map(([name, { description, example, pattern }]) => {
    const schema = { type: 'string', ...(pattern !== undefined && { pattern }) };
    return { schema, in: 'path', name, required: true, description, example };
  });
  const parameters = [...ofQuery, ...ofPath];
  return parameters.length === 0 ? {} : { parameters };
}

/**
 * The name of a response: its error codes or its kind, and the status. It is an identifier, because generators make types and
 * files of it.
 */
function componentNameOf(status: string, { description }: ResponseSchema): string {
  const codes = ERROR_CODES.filter((code) => description.includes(`\`${code}\``));
  const words = codes.length > 0 ? codes.flatMap((code) => code.split('_')) : (description.match(/\w+/g) ?? []);
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('') + status;
}
