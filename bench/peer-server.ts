import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/*
 * The servers that the service is compared with: `bare` and `fastify` send one prepared response, `ipx` images of a folder.
 * Fastify and IPX are installed in the directory and configured as in their documentation.
 */

const [kind = '', directory = ''] = process.argv.slice(2);
/** The same as the service's, so that both write the same Keep-Alive field. */
const KEEP_ALIVE_TIMEOUT_MS = 80_000;

const KINDS: Readonly<Record<string, () => Promise<number>>> = {
  bare() {
    const { headers, body } = readPrepared();
    return listen((_request, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
  },

  async fastify() {
    const { headers, body } = readPrepared();
    const { default: fastify } = await importInstalled('fastify/fastify.js');
    const { default: rateLimit } = await importInstalled('@fastify/rate-limit/index.js');
    const app = fastify({ trustProxy: true, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS });
    await app.register(rateLimit, { max: 10, timeWindow: '30 seconds', cache: 200_000 });
    app.get('/*', (_request: unknown, reply: { headers(fields: object): { send(body: Buffer): void } }) => {
      reply.headers(headers).send(body);
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app.server.address().port;
  },

  async ipx() {
    const { createIPX, createIPXNodeServer, ipxFSStorage } = await importInstalled('ipx/dist/index.mjs');
    return listen(createIPXNodeServer(createIPX({ storage: ipxFSStorage({ dir: directory }) })));
  },
};

function readPrepared() {
  const headers: Record<string, string> = Object.fromEntries(
    JSON.parse(readFileSync(join(directory, 'headers.json'), 'utf8')),
  );
  return { headers, body: readFileSync(join(directory, 'body')) };
}

/** A file of a package that is no dependency of the project, so there are no types. */
function importInstalled(file: string) {
  return import(join(directory, 'node_modules', file));
}

function listen(handler: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, handler);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

console.log(`listening on ${await KINDS[kind]?.()}`);
