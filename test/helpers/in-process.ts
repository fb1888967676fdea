import type { FastifyInstance } from 'fastify';
import inject, { type DispatchFunc, type Response } from 'light-my-request';

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
  const dispatch: DispatchFunc = (raw, response) => {
    // Nothing is ever sent, and the library's socket knows no time limits.
    Object.assign(raw.socket, { setTimeout: () => raw.socket });
    http.server.emit('request', raw, response);
  };
  return inject(dispatch, {
    method: method as 'GET',
    url,
    headers: { host: 'pennant.test', ...headers },
  });
}
