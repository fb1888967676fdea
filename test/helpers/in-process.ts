import { setImmediate as nextTurn } from 'node:timers/promises';
import inject, { type DispatchFunc } from 'light-my-request';
import type { Listener } from '../../src/lib/http/listener.ts';

export interface InProcessRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the client. */
  readonly remoteAddress?: string;
}

export type InProcessResponse = Awaited<ReturnType<typeof sendInProcess>>;

/** Sends a request to a server's request listener without a socket, in a later turn of the event loop as from a socket. */
export async function sendInProcess(
  { server }: Pick<Listener, 'server'>,
  { method = 'GET', url, headers, remoteAddress = '127.0.0.1' }: InProcessRequest,
) {
  const dispatch: DispatchFunc = (raw, response) => {
    // The library's socket has no timeouts. A closed connection ends the response.
    const close = () => void response.end();
    Object.assign(raw.socket, { setTimeout: () => raw.socket, end: close, destroy: close });
    server.emit('request', raw, response);
  };
  await nextTurn();
  const response = await inject(dispatch, {
    method: method as 'GET',
    url,
    remoteAddress,
    headers: { host: 'pennant.test', ...headers },
  });
  const text = response.rawPayload.toString('utf8');
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string | undefined>,
    bytes: response.rawPayload,
    text,
    json: <T = Record<string, unknown>>() => JSON.parse(text) as T,
  };
}
