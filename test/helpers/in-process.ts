import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import inject, { type DispatchFunc } from 'light-my-request';

export interface InProcessRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
}

export interface InProcessResponse {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly bytes: Buffer;
  readonly text: string;
  json<T = Record<string, unknown>>(): T;
}

/** What holds a server: the server itself, or a framework's instance that prepares one. */
export type ServerHolder = Server | PreparedServer;

interface PreparedServer {
  readonly server: Server;
  ready(): PromiseLike<unknown>;
  listen(options: { readonly host: string; readonly port: number }): Promise<unknown>;
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };

/** The plain server, ready for requests. */
export async function readyServer(holder: ServerHolder): Promise<Server> {
  if (!('server' in holder)) return holder;
  await holder.ready();
  return holder.server;
}

/** Sends a request to a server's request listener without a socket. */
export async function sendInProcess(
  holder: ServerHolder,
  { method = 'GET', url, headers, body }: InProcessRequest,
): Promise<InProcessResponse> {
  const server = await readyServer(holder);
  const dispatch: DispatchFunc = (raw, response) => {
    // The library's socket has no timeouts.
    Object.assign(raw.socket, { setTimeout: () => raw.socket });
    server.emit('request', raw, response);
  };
  const response = await inject(dispatch, {
    method: method as 'GET',
    url,
    headers: { host: 'pennant.test', ...headers },
    ...(body !== undefined && { payload: body }),
  });
  const text = response.rawPayload.toString('utf8');
  return {
    status: response.statusCode,
    headers: response.headers as Record<string, string | undefined>,
    bytes: response.rawPayload,
    text,
    json: <T>() => JSON.parse(text) as T,
  };
}

/** Listens on a free port of 127.0.0.1. @returns the port */
export async function listenOnLoopback(holder: ServerHolder): Promise<number> {
  if ('server' in holder) await holder.listen(LOOPBACK);
  else await once(holder.listen(LOOPBACK), 'listening');
  const server = await readyServer(holder);
  return (server.address() as AddressInfo).port;
}
