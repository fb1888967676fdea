import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What Node keeps on a socket; there are no public names for it. */
interface HttpSocket extends Socket {
  readonly parser?: { getCurrentBuffer?(): Buffer } | null;
}

/**
 * Whether an `Upgrade` (RFC 9110 section 7.8) that is ignored makes this the connection's last request.
 *
 * Node's parser stops after such a request and drops the rest of the packet. A request that was pipelined there would
 * be lost, and the client would take the next answer for it. Closing the connection tells the client to send it again.
 */
export function isLastAfterUpgrade(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && !isWholePacket(request);
}

function isWholePacket({ method, url, headers, socket }: IncomingMessage): boolean {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  const packet = (socket as HttpSocket).parser?.getCurrentBuffer?.();
  if (packet === undefined) return false;
  const start = `${method} ${url} `;
  return packet.toString('latin1', 0, start.length) === start && packet.indexOf('\r\n\r\n') === packet.length - 4;
}
