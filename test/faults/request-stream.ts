import type { Socket } from 'node:net';
import { splitAnswers } from '../helpers/raw-http.ts';
import { openConnection } from './raw-connections.ts';

export interface StreamedRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The number of responses by status. */
export type StatusCounts = Readonly<Record<number, number>>;

/**
 * Sends GET requests over several connections, each request as soon as the previous one is answered. Uses a fraction of
 * the CPU time of an HTTP client, which would be taken from the service.
 */
export async function streamRequests(
  port: number,
  requests: Iterable<StreamedRequest>,
  connections: number,
): Promise<StatusCounts> {
  const counts: Record<number, number> = {};
  const iterator = requests[Symbol.iterator]();

  async function work(): Promise<void> {
    const socket = await openConnection(port);
    const read = createAnswerReader(socket);
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      socket.write(textOf(next.value));
      const status = await read();
      counts[status] = (counts[status] ?? 0) + 1;
    }
    socket.destroy();
  }

  await Promise.all(Array.from({ length: connections }, work));
  return counts;
}

function textOf({ url, headers = {} }: StreamedRequest): string {
  const fields = Object.entries({ host: 'pennant.test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url} HTTP/1.1\r\n${fields.join('')}\r\n`;
}

/** Reads responses one at a time. @returns a function that gives the status of the next one */
function createAnswerReader(socket: Socket): () => Promise<number> {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;

  return async () => {
    let received = Buffer.alloc(0);
    for (;;) {
      const chunk = await chunks.next();
      if (chunk.done === true) throw new Error('the service closed a connection with a request under way');
      received = Buffer.concat([received, chunk.value]);
      const [answer] = splitAnswers(received).answers;
      if (answer !== undefined) return answer.status;
    }
  };
}
