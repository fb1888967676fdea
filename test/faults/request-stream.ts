import { openConnection, type RawResponse } from '../helpers/raw-http.ts';

export interface StreamedRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The number of responses by status and, of errors, code and message. */
export type ResponseCounts = Readonly<Record<string, number>>;

/**
 * Sends GET requests over several connections, each request as soon as the previous one has its response. Uses a fraction of
 * the CPU time of an HTTP client, which would be taken from the service.
 */
export async function streamRequests(
  port: number,
  requests: Iterable<StreamedRequest>,
  connections: number,
): Promise<ResponseCounts> {
  const counts: Record<string, number> = {};
  const iterator = requests[Symbol.iterator]();

  async function work(): Promise<void> {
    const { ask, close } = await openConnection(port);
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      const name = nameOf(await ask(textOf(next.value)));
      counts[name] = (counts[name] ?? 0) + 1;
    }
    close();
  }

  await Promise.all(Array.from({ length: connections }, work));
  return counts;
}

function nameOf({ status, body }: RawResponse): string {
  if (status < 400) return String(status);
  return `${status} ${JSON.parse(body).code}`;
}

function textOf({ url, headers = {} }: StreamedRequest): string {
  const fields = Object.entries({ host: 'pennant.test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url} HTTP/1.1\r\n${fields.join('')}\r\n`;
}
