import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The server that the service is compared with: Node's own server with one prepared response to every request.

const [headersPath = '', bodyPath = ''] = process.argv.slice(2);
const headers: Record<string, string> = Object.fromEntries(JSON.parse(readFileSync(headersPath, 'utf8')));
const body = readFileSync(bodyPath);

/** The same as the service's, so that both write the same Keep-Alive field. */
const KEEP_ALIVE_TIMEOUT_MS = 80_000;

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS }, (_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(`listening on ${(server.address() as AddressInfo).port}`));
