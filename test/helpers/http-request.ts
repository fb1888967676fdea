import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface SentResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

interface RequestOptions {
  readonly method?: string;
  /** Sent unchanged: dot segments and escapes stay. */
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Called when the other side has read the request's fields, which is requested with Expect: 100-continue. */
  readonly onAccepted?: () => void;
}

export type HttpSender = ReturnType<typeof createHttpSender>;

/** A client for one port of this machine that keeps its connections. @param address its own, by default 127.0.0.1 */
export function createHttpSender(port: number, address = '127.0.0.1') {
  const agent = new Agent({ keepAlive: true, localAddress: address });
  return {
    /** Rejects when the connection fails before the response is whole. */
    async send({ method = 'GET', url, headers = {}, signal, onAccepted }: RequestOptions): Promise<SentResponse> {
      const target = { host: '127.0.0.1', port, agent, method, path: url, headers };
      const sent = request({ ...target, ...(signal !== undefined && { signal }) });
      if (onAccepted !== undefined) sent.setHeader('expect', '100-continue').once('continue', onAccepted);
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const bytes = await buffer(response);
      return { status: response.statusCode ?? 0, headers: response.headers, bytes };
    },
    close: () => agent.destroy(),
  };
}
