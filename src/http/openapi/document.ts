import Fastify, { type FastifyInstance } from 'fastify';
import { ERROR_CODES } from '../../domain/errors.ts';
import { WITHOUT_SCHEMAS } from '../../lib/without-schemas.ts';
import { HEADER_FIELDS } from './header-fields.ts';
import { COMPONENT_SCHEMAS } from './schemas.ts';

interface Response {
  readonly description: string;
  readonly headers?: Record<string, unknown>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

/** As much of an OpenAPI document as is changed here. */
interface Document {
  readonly components?: object;
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * The OpenAPI document of these routes, each answer written once.
 *
 * Its library is loaded for it alone, and sees the routes through an app of its own: at every start it would take its
 * time, for a document that few ask for.
 */
export async function describeRoutes(addRoutes: (app: FastifyInstance) => void, version: string): Promise<object> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ logger: false, schemaController: WITHOUT_SCHEMAS });
  await app.register(swagger, { openapi: openApiHead(version) });
  await app.register(async (routes) => addRoutes(routes));
  await app.ready();
  return shareAnswers(app.swagger());
}

/** What the document says of the service as a whole. */
function openApiHead(version: string) {
  return {
    openapi: '3.1.0' as const,
    info: {
      title: 'Pennant',
      version,
      description: 'A video channel’s metadata as JSON, its banner and avatar as images. No key, no log-in.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    components: { schemas: COMPONENT_SCHEMAS, headers: HEADER_FIELDS },
  };
}

/**
 * Writes every answer once, under `components.responses`, and refers to it: each of some forty operations would repeat
 * fifteen of them.
 */
function shareAnswers(given: object): object {
  const { paths = {}, components, ...rest } = given as Document;
  const responses: Record<string, Response> = {};

  function share(status: string, response: Response): object {
    const name = nameOf(status, response);
    responses[name] = { ...response, headers: referToHeaders(response) };
    return { $ref: `#/components/responses/${name}` };
  }

  const shared = mapValues(paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      responses: mapValues(operation.responses, (response, status) => share(status, response)),
    })),
  );
  return { ...rest, paths: shared, components: { ...components, responses } };
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}

/** The framework puts each header's reference where a schema belongs. */
function referToHeaders({ headers = {} }: Response): Record<string, unknown> {
  return mapValues(headers, (_header, name) => ({ $ref: `#/components/headers/${name}` }));
}

/** Status and codes, or what the answer is: the same status stands for something else at other paths. */
function nameOf(status: string, { description }: Response): string {
  const codes = ERROR_CODES.filter((code) => description.includes(`\`${code}\``));
  return codes.length > 0
    ? [status, ...codes].join('.')
    : `${status}.${description.toLowerCase().match(/\w+/g)?.join('-')}`;
}
