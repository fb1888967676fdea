import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addBoundGauges } from '../metrics.ts';
import type { Runtime } from '../runtime.ts';

/** A response that the kernel has not taken whole. */
interface Waiting {
  readonly network: string;
  readonly heldBytes: number;
  readonly cancelDeadline: () => void;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** The objects of a request and its response, and the header fields (measured with its part of the connection: 6 to 12 KiB). */
const RESPONSE_BYTES = 10 * 1024;
/** A response may take this long, and a second more for each 16 KiB of its body. */
const ALLOWED_MS = 60_000;
const BYTES_PER_SECOND = 16 * 1024;

export type ResponseWriter = ReturnType<typeof createResponseWriter>;

/**
 * Ends responses. Most are taken by the kernel at once. The others wait for their readers: they have a deadline, and the
 * memory that they keep is bounded. A connection that misses the deadline is closed. When too much waits, the response that has
 * been under way for the longest time is closed first, of the network whose responses keep most.
 */
export function createResponseWriter({ clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>) {
  /** In the order in which they were made. */
  const waiting = new Map<ServerResponse, Waiting>();
  const bytesPerNetwork = new Map<string, number>();
  let bytes = 0;

  function count(network: string, change: number): void {
    bytes += change;
    const held = (bytesPerNetwork.get(network) ?? 0) + change;
    if (held === 0) bytesPerNetwork.delete(network);
    else bytesPerNetwork.set(network, held);
  }

  function watch(response: ServerResponse, body: string | Buffer | undefined, network: string): void {
    const bodyBytes = Buffer.byteLength(body ?? '');
    const allowedMs = ALLOWED_MS + (bodyBytes / BYTES_PER_SECOND) * 1_000;
    // A slice of a larger buffer keeps all of it in memory.
    const heldBytes = RESPONSE_BYTES + (Buffer.isBuffer(body) ? body.buffer.byteLength : bodyBytes);
    const cancelDeadline = clock.after(allowedMs, () => close(response.req.socket));
    waiting.set(response, { network, heldBytes, cancelDeadline });
    count(network, heldBytes);
    // Emitted after the last byte, and when the connection closes.
    response.once('close', () => forget(response));
    closeSlowest();
  }

  function forget(response: ServerResponse): void {
    const entry = waiting.get(response);
    if (entry === undefined) return;
    waiting.delete(response);
    count(entry.network, -entry.heldBytes);
    entry.cancelDeadline();
  }

  function close(socket: Socket): void {
    for (const response of waiting.keys()) if (response.req.socket === socket) forget(response);
    // With `destroy`, the kernel would go on sending what it has.
    socket.resetAndDestroy();
  }

  /** A response that is larger than the bound is sent as long as no other waits. */
  function closeSlowest(): void {
    while (bytes > MAX_BYTES && waiting.size > 1) {
      const most = Math.max(...bytesPerNetwork.values());
      const slowest = [...waiting].find(([, { network }]) => bytesPerNetwork.get(network) === most);
      if (slowest !== undefined) close(slowest[0].req.socket);
    }
  }

  addBoundGauges(metrics, 'pennant_unread_responses', 'responses being sent', () => ({
    entries: waiting.size,
    bytes,
    maxBytes: MAX_BYTES,
  }));

  return {
    /**
     * Writes the body after the header fields, and ends the response.
     *
     * @param network whose response it is
     * @param onSent called when the body is written, for a response that ends with its connection: the caller closes it
     */
    end(response: ServerResponse, body: string | Buffer | undefined, network: string, onSent?: () => void): void {
      // A destroyed response has emitted `close`: nothing would remove it from the list.
      if (response.destroyed) return;
      // While the response waits behind an earlier one, so may a 100 Continue. Node would write it after the header section.
      if (response.socket === null) response.flushHeaders();
      const sent = response.req.method === 'HEAD' ? undefined : body;
      if (onSent !== undefined && sent !== undefined) response.write(sent, onSent);
      else response.end(sent);
      if (response.writableLength > 0) watch(response, sent, network);
    },
  };
}
