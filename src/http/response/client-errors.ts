import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/http/listener.ts';
import type { Connections } from '../connections.ts';
import type { RateLimitStep } from '../request/admission.ts';
import { methodNotAllowed, NOT_HTTP } from '../request/admission.ts';
import type { ClientIdentification } from '../request/client-identification.ts';
import { nextRequestId } from '../request/context.ts';
import { malformed } from '../request/target.ts';
import { HEADERS_TOO_LARGE, type ProblemResponse, problemResponse } from './problems.ts';
import { type ResponseReporter, UNPARSED } from './response-reporter.ts';
import { COMMON_HEADERS } from './send.ts';

/** An error that Node's HTTP parser reports instead of a request. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: Buffer | undefined;
  /** Where in the packet the parser stopped. */
  readonly bytesParsed?: number;
}

interface ClientErrorOptions {
  readonly clients: Pick<ClientIdentification, 'identify'>;
  readonly rateLimit: RateLimitStep;
  readonly baseUrls: readonly string[];
  readonly reporter: Pick<ResponseReporter, 'report'>;
  readonly connections: Pick<Connections, 'close' | 'isInBody' | 'responsesEnd'>;
}

/**
 * Responds to `CONNECT` and to bytes that never become a request. Node would close the connection with an empty body or none.
 * Such bytes count against the socket's own address, because a malformed request has no usable `X-Forwarded-For`.
 */
export function createClientErrors(options: ClientErrorOptions) {
  const { clients, rateLimit, baseUrls, reporter, connections } = options;
  /** Node also reports every packet that follows an unreadable one. */
  const refusedSockets = new WeakSet<Socket>();

  async function refuse(socket: Socket, fault: AppError, forwardedFor?: string | readonly string[]): Promise<void> {
    if (!isFirstFault(socket)) return;
    const id = nextRequestId();
    const client = clients.identify(socket.remoteAddress ?? 'unknown', forwardedFor);
    const context = { id, base: baseUrls[0] ?? '', client, limitHeaders: {} };
    let error: unknown = fault;
    try {
      // The rate limit comes before every other error.
      await rateLimit(context);
    } catch (refusal) {
      error = refusal;
    }
    const problem = problemResponse(error, context);
    await connections.responsesEnd(socket);
    if (socket.writable) connections.close(socket, messageOf(problem, { 'x-request-id': id, ...context.limitHeaders }));
    else if (problem.failure === undefined) return;
    reporter.report({
      route: UNPARSED,
      status: problem.status,
      requestId: id,
      method: '',
      path: '',
      seconds: 0,
      client: client.address,
      failure: problem.failure,
    });
  }

  /** A request with a malformed body gets its own response. The beginning of the next request is unknown. */
  async function closeAfterResponses(socket: Socket): Promise<void> {
    if (!isFirstFault(socket)) return;
    await connections.responsesEnd(socket);
    if (socket.writable) connections.close(socket);
  }

  /** False also for a connection that is already closing, while its last response is being sent. */
  function isFirstFault(socket: Socket): boolean {
    if (refusedSockets.has(socket) || !socket.writable) return false;
    refusedSockets.add(socket);
    return true;
  }

  return {
    /** For `clientError`: malformed bytes, or a request that did not arrive in time. */
    onParserError(error: ParserError, socket: Socket): void {
      if (error.code === 'ECONNRESET') socket.destroy();
      else if (connections.isInBody(socket)) void closeAfterResponses(socket);
      else void refuse(socket, faultOf(error));
    },

    /** For `connect`: Node makes no response, only a request. */
    onConnect(request: IncomingMessage, socket: Socket): void {
      // Node has removed its own listener. Without one, a client that resets the connection would end the process.
      socket.on('error', () => socket.destroy());
      void refuse(socket, methodNotAllowed(), request.headers['x-forwarded-for']);
    },
  };
}

function messageOf({ status, headers, body }: ProblemResponse, more: Readonly<Record<string, string>>): string {
  const fields: Record<string, string> = {
    ...COMMON_HEADERS,
    ...more,
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** By the code of Node's parser (llhttp). Any other code is a request that is not valid. */
function faultOf(error: ParserError): AppError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return HEADERS_TOO_LARGE;
    // Unknown methods, and those of RTSP.
    case 'HPE_INVALID_METHOD':
    case 'HPE_INVALID_CONSTANT':
      return METHOD_AND_TARGET.test(unreadableLine(error)) ? methodNotAllowed() : malformed(NOT_HTTP);
    case 'HPE_INVALID_URL':
      return malformed('The request target is no path or URL, or has characters that must be percent-encoded.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time.');
    default:
      return malformed(NOT_HTTP);
  }
}

/** The beginning of a request line (RFC 9112 section 3) with any method. Anything else is not HTTP. */
const METHOD_AND_TARGET = /^[!#$%&'*+.^_`|~\w-]+ (?:\/|https?:\/\/)/;

/** The line in which the parser stopped. */
function unreadableLine({ rawPacket, bytesParsed = 0 }: ParserError): string {
  const text = rawPacket?.toString('latin1') ?? '';
  return text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1);
}
