import type { Socket } from 'node:net';
import { openConnection } from './raw-connections.ts';

export interface StreamedRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How many answers there were of each status. */
export type StatusCounts = Readonly<Record<number, number>>;

/**
 * Sends GET requests over several connections, on each the next one as soon as the one before is answered. Costs a
 * fraction of what an HTTP client does, which would share the service's processors.
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

/** Reads answers that have a length or no body; there is one at a time. */
function createAnswerReader(socket: Socket): () => Promise<number> {
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let received = Buffer.alloc(0);

  return async () => {
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      const head = end === -1 ? '' : received.toString('latin1', 0, end);
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      if (end !== -1 && received.length >= end + 4 + length) {
        received = received.subarray(end + 4 + length);
        return Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      }
      const chunk = await chunks.next();
      if (chunk.done === true) throw new Error('the service closed a connection with a request under way');
      received = Buffer.concat([received, chunk.value]);
    }
  };
}
