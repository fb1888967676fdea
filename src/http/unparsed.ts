import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../domain/errors.ts';
import { STATUS_CODES } from '../lib/node-http.ts';
import { ALLOWED_METHODS, COMMON_HEADERS } from './answer.ts';
import { problemAnswer } from './problems.ts';
import type { RateLimitGate } from './rate-limit.ts';
import { methodNotAllowed } from './request-check.ts';
import { HEADERS_TOO_LARGE_STATUS } from './schemas.ts';

/** A fault that Node's HTTP parser reports instead of a request. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  /** A Buffer; Fastify's types take it for one that went through JSON. */
  readonly rawPacket?: unknown;
}

export interface UnparsedAnswers {
  /** For `clientError`: bytes that are no request, or none in time. */
  answerParserError(error: ParserError, socket: Duplex): void;
  /** For `connect`: Node hands over the bare socket. */
  answerConnect(request: IncomingMessage, socket: Duplex): void;
}

export interface UnparsedAnswersOptions {
  readonly gate: RateLimitGate;
  readonly nextRequestId: () => string;
  readonly onAnswer: (answered: { status: number; requestId: string; client: string }) => void;
}

/**
 * Answers for what never becomes a request: Node would close the connection with an empty body or none. They count
 * against the socket's own address: a request that cannot be read has no `X-Forwarded-For`.
 */
export function createUnparsedAnswers({ gate, nextRequestId, onAnswer }: UnparsedAnswersOptions): UnparsedAnswers {
  async function answer(socket: Duplex, error: AppError, status?: number): Promise<void> {
    // Once an answer is on its way, more bytes would end up in the middle of it.
    if (!socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const admission = await gate.admit(addressOf(socket), undefined);
    const refused = new AppError('rate_limited', 'Too many requests.', { retryAfterMs: admission.retryAfterMs });
    const context = { base: '', requestId: nextRequestId(), ...(status !== undefined && { status }) };
    const problem = admission.isAllowed
      ? problemAnswer(error, context)
      : problemAnswer(refused, { ...context, status: 429 });
    const headers: Record<string, string> = {
      ...COMMON_HEADERS,
      'x-request-id': context.requestId,
      ...admission.headers,
      ...problem.headers,
      ...(problem.status === 405 && { allow: ALLOWED_METHODS }),
      'content-length': String(Buffer.byteLength(problem.body)),
      date: new Date().toUTCString(),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    endAndClose(
      socket,
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n${problem.body}`,
    );
    onAnswer({ status: problem.status, requestId: context.requestId, client: admission.client.address });
  }

  return {
    answerParserError(error, socket) {
      if (error.code === 'ECONNRESET' || isAnswered(socket)) {
        socket.destroy();
        return;
      }
      const [fault, status] = faultOf(error);
      void answer(socket, fault, status);
    },
    answerConnect(_request, socket) {
      // Node has taken its own listener away: without one, a client that resets the connection would end the process.
      socket.on('error', () => socket.destroy());
      void answer(socket, methodNotAllowed());
    },
  };
}

/** Closed at once, bytes that are still unread would make the kernel reset the connection before the answer is read. */
const LINGER_MS = 1_000;

/** Closes the connection for good: Node leaves it to the client, which may keep its side open for ever. */
function endAndClose(socket: Duplex, text: string): void {
  socket.end(text);
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}

function addressOf(socket: Duplex): string {
  return (socket as Duplex & { remoteAddress?: string }).remoteAddress ?? 'unknown';
}

/** What Node keeps on a socket; there are no public names for it. */
interface HttpSocket extends Duplex {
  /** The response that is being written. */
  readonly _httpMessage?: { readonly headersSent?: boolean } | null;
  readonly parser?: { readonly incoming?: { readonly complete: boolean } | null } | null;
}

function isAnswering(socket: HttpSocket): boolean {
  return socket._httpMessage?.headersSent === true;
}

/** In the middle of the body of a request that has its answer: another would be taken for the next request's. */
function isAnswered(socket: HttpSocket): boolean {
  return socket.parser?.incoming?.complete === false && socket._httpMessage?.headersSent !== false;
}

function faultOf(error: ParserError): [fault: AppError, status?: number] {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return isRequestLineTooLong(error.rawPacket)
        ? [new AppError('request_too_large', 'The URL is too long.')]
        : [new AppError('request_too_large', 'The header section is too large.'), HEADERS_TOO_LARGE_STATUS];
    case 'HPE_INVALID_METHOD':
      return [isRequest(error.rawPacket) ? methodNotAllowed() : notHttp()];
    case 'HPE_INVALID_URL':
      return [new AppError('malformed_request', 'The URL holds characters that have to be percent-escaped.')];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [new AppError('request_timeout', 'The request did not arrive in time.')];
    default:
      return [notHttp()];
  }
}

function notHttp(): AppError {
  return new AppError('malformed_request', 'The request is not valid HTTP/1.1.');
}

/** A request line of RFC 9112 section 3, whatever its method: anything else was never meant as HTTP. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

function isRequest(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && REQUEST_LINE.test(packet.toString('latin1'));
}

function isRequestLineTooLong(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && !packet.includes('\r\n');
}
