import type { FastifyInstance } from 'fastify';
import inject, { type Response } from 'light-my-request';

export interface InProcessRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request through a whole listener without a socket. Fastify's own `inject` would go past what stands before its router. */
export async function sendInProcess(
  http: FastifyInstance,
  { method = 'GET', url, headers }: InProcessRequest,
): Promise<Response> {
  await http.ready();
  return inject((raw, response) => http.server.emit('request', raw, response), {
    method: method as 'GET',
    url,
    headers: { host: 'pennant.test', ...headers },
  });
}
