import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Passes requests on to an origin, and each answer back when `mayAnswer` has resolved.
 *
 * @param mayAnswer called with the target of each request when it arrives
 */
export async function startPassingProxy(origin: string, mayAnswer: (target: string) => Promise<unknown>) {
  const server = createServer(async (request, response) => {
    const released = mayAnswer(request.url ?? '/');
    const { method, headers } = request;
    const passed = send(new URL(request.url ?? '/', origin), { method, headers });
    request.pipe(passed);
    const [answer] = await once(passed, 'response');
    await released;
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
