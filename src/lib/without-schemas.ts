import type { FastifyServerOptions } from 'fastify';

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>;

/**
 * For Fastify: answers are plain JSON, and nothing is validated by the framework. Its own compilers, which its types
 * insist on, would be loaded at every start for nothing.
 */
export const WITHOUT_SCHEMAS = {
  compilersFactory: {
    buildValidator: () => () => () => true,
    buildSerializer: () => () => JSON.stringify,
  },
} as unknown as SchemaController;
