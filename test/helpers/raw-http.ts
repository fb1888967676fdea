import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface RawResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** One character per byte. */
  readonly body: string;
}

async function connectToPort(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** A connection that stays open for several consecutive requests. */
export async function openConnection(port: number) {
  const socket = await connectToPort(port);
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return {
    /** Sends the bytes and waits for one complete response. */
    async ask(bytes: string | Buffer): Promise<RawResponse> {
      socket.write(bytes);
      let received = Buffer.alloc(0);
      for (;;) {
        const chunk = await chunks.next();
        if (chunk.done) throw new Error(`no whole response: ${received.toString('latin1')}`);
        received = Buffer.concat([received, chunk.value]);
        const [response] = splitResponses(received);
        if (response !== undefined) return response;
      }
    },
    close: () => socket.destroy(),
  };
}

/** Sends bytes as they are and reads until the first whole response has come. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawResponse> {
  const connection = await openConnection(port);
  try {
    return await connection.ask(bytes);
  } finally {
    connection.close();
  }
}

/** Sends the bytes and reads everything until the other side closes. */
export async function readUntilClosed(port: number, bytes: string): Promise<string> {
  const socket = await connectToPort(port);
  socket.write(bytes);
  return (await buffer(socket)).toString('latin1');
}

/** Sends the bytes and reads every response until the other side closes. */
export async function readResponses(port: number, bytes: string): Promise<readonly RawResponse[]> {
  return splitResponses(Buffer.from(await readUntilClosed(port, bytes), 'latin1'));
}

/** Parses consecutive responses. A response without a length has no body. */
function splitResponses(bytes: Buffer): readonly RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return responses;
    const head = rest.toString('latin1', 0, headEnd);
    const headers = fieldsOf(head);
    const end = headEnd + 4 + Number(headers['content-length'] ?? 0);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    if (rest.length < end || Number.isNaN(status)) return responses;
    responses.push({ status, headers, body: rest.toString('latin1', headEnd + 4, end) });
    rest = rest.subarray(end);
  }
}

function fieldsOf(head: string): Record<string, string> {
  const fields = [...head.matchAll(/^([^:\r\n]*):(.*)$/gm)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name.toLowerCase(), value.trim()]));
}
