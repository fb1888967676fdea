import { type Endpoint, TAGS } from '../request/context.ts';
import type { Parameter } from '../request/parameters.ts';
import { COMMON_FIELDS, LIMIT_FIELDS } from '../response/fields.ts';
import { OTHER_FIELDS, RESPONSES, SHARED_RESPONSES } from './responses.ts';
import { COMPONENT_SCHEMAS } from './schemas.ts';

export interface OpenApiOptions {
  readonly version: string;
  /** Contact address of the operator. */
  readonly contact: string | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** What the service is, for the index too. */
export const SUMMARY = 'A YouTube channel’s metadata as JSON, its banner and avatar as images. No key, no login.';

const DESCRIPTION = `${SUMMARY}

Every path accepts GET, HEAD (as GET, without a body) and OPTIONS (status 204 with \`Allow\` and the \`Access-Control-…\` fields of a CORS preflight). Every response has ${COMMON_FIELDS.join(', ')}, and for a client with a limit ${LIMIT_FIELDS.join(', ')}.`;

/** The OpenAPI 3.1 document of `/openapi.json`. @param serverUrl the base of the request */
export function openApiDocument({ version, contact, endpoints }: OpenApiOptions, serverUrl: string): object {
  const paths = endpoints.map((endpoint) => [pathOf(endpoint), { get: operationOf(endpoint) }]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pennant',
      version,
      description: DESCRIPTION,
      contact: { name: contact ?? 'The operator of the instance' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl }],
    // No request needs a key.
    security: [],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: COMPONENT_SCHEMAS,
      headers: OTHER_FIELDS,
      responses: { ...RESPONSES, ...SHARED_RESPONSES },
    },
  };
}

function operationOf({ id, tag, summary, description, pathParameters = {}, query = {}, returns }: Endpoint): object {
  const ofQuery = Object.entries(query).map(([name, parameter]) => describeParameter(name, parameter));
  const ofPath = Object.entries(pathParameters).map(([name, { description: text, example, pattern }]) => {
    return { schema: { type: 'string', pattern }, in: 'path', name, required: true, description: text, example };
  });
  const responses = {
    200: { $ref: `#/components/responses/${returns}` },
    304: { $ref: '#/components/responses/NotModified' },
    '4XX': { $ref: '#/components/responses/ClientError' },
    '5XX': { $ref: '#/components/responses/ServerError' },
  };
  const all = [...ofQuery, ...ofPath];
  return {
    operationId: `get${id}`,
    tags: [tag],
    summary,
    description,
    parameters: all.length > 0 ? all : undefined,
    responses,
  };
}

/** In the notation of OpenAPI: `/api/channel/{identifier}`. */
export function pathOf({ url }: Pick<Endpoint, 'url'>): string {
  return url.replaceAll(/:(\w+)/g, '{$1}');
}

function describeParameter(
  name: string,
  { schema, description, example, isRequired: required = false }: Parameter,
): object {
  // A list has its values in one parameter: ids=A,B.
  const style = schema.type === 'array' ? { style: 'form', explode: false } : {};
  return { schema, in: 'query', name, required, description, example, ...style };
}
