import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** More at once would overflow the listener's backlog, which is the kernel's limit and not the service's. */
const BATCH = 200;

/** Connections on which nothing is sent; the caller destroys them. */
export async function openConnections(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () => openConnection(port));
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

export async function openConnection(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  // An attacker does not mind a reset.
  return socket.on('error', () => undefined);
}

export interface RawAnswer {
  readonly status: number;
  /** Status line and fields. */
  readonly head: string;
  readonly body: Buffer;
}

export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** Bytes after the last whole answer. */
  readonly rest: Buffer;
  readonly isClosed: boolean;
}

export interface ExchangeOptions {
  /** Reads until so many have come; otherwise until the other side closes. */
  readonly answers?: number;
  /** Reads no longer than until nothing more has come for so long after the first bytes. */
  readonly quietMs?: number;
}

/** An answer may take so long to begin or to go on while it is still awaited. */
const PATIENCE_MS = 15_000;

/** Sends bytes and reads what comes. */
export async function exchange(
  port: number,
  bytes: Buffer,
  { answers: wanted, quietMs = PATIENCE_MS }: ExchangeOptions = {},
): Promise<Exchange> {
  const socket = await openConnection(port);
  const chunks: Buffer[] = [];
  let isClosed = false;
  let lastDataAtMs = performance.now();
  socket.on('data', (chunk: Buffer) => {
    lastDataAtMs = performance.now();
    chunks.push(chunk);
  });
  socket.on('close', () => {
    isClosed = true;
  });
  socket.write(bytes);
  const isComplete = () => wanted !== undefined && splitAnswers(Buffer.concat(chunks)).answers.length >= wanted;
  const patienceMs = () => (chunks.length === 0 ? PATIENCE_MS : quietMs);
  while (!isClosed && !isComplete() && performance.now() - lastDataAtMs < patienceMs()) await sleep(5);
  socket.destroy();
  return { ...splitAnswers(Buffer.concat(chunks)), isClosed };
}

/** Reads answers that stand one behind the other; all that this service gives have a length. */
function splitAnswers(bytes: Buffer): { answers: RawAnswer[]; rest: Buffer } {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return { answers, rest };
    const head = rest.subarray(0, headEnd).toString('latin1');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (rest.length < end || Number.isNaN(status)) return { answers, rest };
    answers.push({ status, head, body: rest.subarray(headEnd + 4, end) });
    rest = rest.subarray(end);
  }
}

/** Why an answer is none that this service gives: an image or JSON that parses, never a 500. */
export function findAnswerFault({ status, head, body }: RawAnswer): string | undefined {
  const contentType = /^content-type: ([^;\r]+)/im.exec(head)?.[1] ?? '';
  if (status === 500) return 'answered 500';
  if (contentType.startsWith('image/')) return body.length > 0 ? undefined : 'an empty image';
  if (!contentType.endsWith('json')) return `answered ${status} with content type "${contentType}"`;
  try {
    JSON.parse(body.toString('utf8'));
    return undefined;
  } catch {
    return `answered JSON that cannot be parsed: ${body.toString('latin1').slice(0, 200)}`;
  }
}
