import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type RawResponse, splitResponses } from '../helpers/raw-http.ts';

/** More at once would overflow the listener's backlog, which is a limit of the kernel. */
const BATCH = 200;

/** Connections on which nothing is sent. The caller destroys them. */
export async function openConnections(port: number, count: number, localAddress?: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () =>
      openConnection(port, localAddress),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

/** @param localAddress the client's own address */
export async function openConnection(port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress !== undefined && { localAddress }) });
  await once(socket, 'connect');
  // A reset is harmless for an attacker.
  return socket.on('error', () => undefined);
}

export interface Exchange {
  readonly responses: readonly RawResponse[];
  /** Bytes after the last complete response. */
  readonly rest: Buffer;
  readonly isClosed: boolean;
}

export interface ExchangeOptions {
  /** Reads until this many responses have arrived. By default until the other side closes. */
  readonly responses?: number;
  /** Stops reading when nothing has arrived for this long after the first bytes. */
  readonly quietMs?: number;
}

/** The maximum pause before and within a response. */
const PATIENCE_MS = 15_000;

/** Sends bytes and reads the responses. */
export async function exchange(
  port: number,
  bytes: Buffer,
  { responses: wanted, quietMs = PATIENCE_MS }: ExchangeOptions = {},
): Promise<Exchange> {
  const socket = await openConnection(port);
  const chunks: Buffer[] = [];
  const isComplete = () => wanted !== undefined && splitResponses(Buffer.concat(chunks)).responses.length >= wanted;
  const isClosed = await new Promise<boolean>((resolve) => {
    socket.setTimeout(PATIENCE_MS, () => resolve(false));
    socket.on('close', () => resolve(true));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.setTimeout(quietMs);
      if (isComplete()) resolve(false);
    });
    socket.write(bytes);
  });
  socket.destroy();
  return { ...splitResponses(Buffer.concat(chunks)), isClosed };
}

/** Why a response is invalid. The service sends images or valid JSON, and never a 500. */
export function findResponseFault({ status, headers, body }: RawResponse): string | undefined {
  const [contentType = ''] = (headers['content-type'] ?? '').split(';');
  if (status === 500) return 'returned 500';
  if (contentType.startsWith('image/')) return body.length > 0 ? undefined : 'an empty image';
  if (!contentType.endsWith('json')) return `returned ${status} with content type "${contentType}"`;
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    return `returned JSON that cannot be parsed: ${body.slice(0, 200)}`;
  }
}
