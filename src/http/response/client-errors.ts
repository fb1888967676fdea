import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/node-http.ts';
import { HEADERS_TOO_LARGE_STATUS } from '../openapi/schemas.ts';
import { type RateLimitGate, tooManyRequests } from '../request/rate-limit.ts';
import { MAX_URL_BYTES, noTarget, urlTooLong } from '../request/target.ts';
import { methodNotAllowed, notHttp } from '../request/validate.ts';
import { internalError, type ProblemAnswer, problemAnswer } from './problems.ts';
import { ALLOWED_METHODS, COMMON_HEADERS, type Failure } from './send.ts';

/** A fault that Node's HTTP parser reports instead of a request. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  /** A Buffer; Fastify's types take it for one that went through JSON. */
  readonly rawPacket?: unknown;
  /** Where in the packet the parser stopped. */
  readonly bytesParsed?: number;
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
  /** Origin for the problem type's URL; may be empty. */
  readonly base: string;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
  readonly onAnswer: (answered: { status: number; requestId: string; client: string; failure?: Failure }) => void;
}

interface Refusal {
  readonly fault: AppError;
  /** In place of the problem's own. */
  readonly status?: number;
}

interface Decision extends Refusal {
  /** Its address. */
  readonly client: string;
  readonly limitHeaders: Readonly<Record<string, string>>;
  readonly failure?: Failure;
}

/**
 * Answers for what never becomes a request: Node would close the connection with an empty body or none. They count
 * against the socket's own address: a request that cannot be read has no `X-Forwarded-For`.
 */
export function createUnparsedAnswers(options: UnparsedAnswersOptions): UnparsedAnswers {
  const { gate, nextRequestId, base, contact, onAnswer } = options;
  /** Node reports every packet that follows an unreadable one as well. */
  const refusedSockets = new WeakSet<Duplex>();

  /** Counts it, and says what is answered: the rate limit comes before every other fault. */
  async function decide(socket: Duplex, refusal: Refusal): Promise<Decision> {
    const address = addressOf(socket);
    try {
      const admission = await gate.admit(address, undefined);
      const { isAllowed, client, headers } = admission;
      const decided = isAllowed ? refusal : { fault: tooManyRequests(admission, contact) };
      return { ...decided, client: client.address, limitHeaders: headers };
    } catch (error) {
      const fault = internalError(error);
      return { fault, client: address, limitHeaders: {}, failure: { code: fault.code, error } };
    }
  }

  async function refuse(socket: Duplex, refusal: Refusal): Promise<void> {
    if (!isFirstFault(socket)) return;
    const requestId = nextRequestId();
    const { fault, status, client, limitHeaders, failure } = await decide(socket, refusal);
    const problem = problemAnswer(fault, { base, requestId, ...(status !== undefined && { status }) });
    await answersBefore(socket);
    if (socket.writable) endAndClose(socket, messageOf(problem, { 'x-request-id': requestId, ...limitHeaders }));
    else if (failure === undefined) return;
    onAnswer({ status: problem.status, requestId, client, ...(failure && { failure }) });
  }

  /** The request whose body is broken gets its own answer; where the next request begins cannot be known. */
  async function closeAfterAnswers(socket: Duplex): Promise<void> {
    if (!isFirstFault(socket)) return;
    await answersBefore(socket);
    if (socket.writable) endAndClose(socket);
  }

  /** False also for a connection that is being closed already, with its last answer on the way. */
  function isFirstFault(socket: Duplex): boolean {
    if (refusedSockets.has(socket) || !socket.writable) return false;
    refusedSockets.add(socket);
    return true;
  }

  return {
    answerParserError(error, socket) {
      if (error.code === 'ECONNRESET') socket.destroy();
      else if (isInBody(socket)) void closeAfterAnswers(socket);
      else void refuse(socket, refusalFor(error));
    },
    answerConnect(_request, socket) {
      // Node has taken its own listener away: without one, a client that resets the connection would end the process.
      socket.on('error', () => socket.destroy());
      void refuse(socket, { fault: methodNotAllowed() });
    },
  };
}

function messageOf({ status, headers, body }: ProblemAnswer, more: Readonly<Record<string, string>>): string {
  const fields: Record<string, string> = {
    ...COMMON_HEADERS,
    ...more,
    ...headers,
    ...(status === 405 && { allow: ALLOWED_METHODS }),
    'content-length': String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

/** Closed at once, bytes that are still unread would make the kernel reset the connection before the answer is read. */
const LINGER_MS = 1_000;

/** Closes the connection for good: Node leaves it to the client, which may keep its side open for ever. */
function endAndClose(socket: Duplex, text?: string): void {
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
  /** The response that is being written; those to pipelined requests follow it. */
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: { readonly complete: boolean } | null } | null;
}

/** Waits until the requests before have their answers: more bytes would end up in the middle of them. */
async function answersBefore(socket: HttpSocket): Promise<void> {
  for (let response = socket._httpMessage; response && !socket.destroyed; response = socket._httpMessage) {
    await new Promise((resolve) => response?.once('close', resolve));
  }
}

function isInBody(socket: HttpSocket): boolean {
  return socket.parser?.incoming?.complete === false;
}

function refusalFor(error: ParserError): Refusal {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      if (hasLongUrl(error)) return { fault: urlTooLong() };
      return {
        fault: new AppError('request_too_large', 'The header section is too large.'),
        status: HEADERS_TOO_LARGE_STATUS,
      };
    // Methods of no protocol, of RTSP, and the one that begins HTTP/2.
    case 'HPE_INVALID_METHOD':
    case 'HPE_INVALID_CONSTANT':
    case 'HPE_INVALID_VERSION':
      return { fault: hasRequestLine(error) ? methodNotAllowed() : notHttp() };
    case 'HPE_INVALID_URL':
      return { fault: hasUnescapedTarget(error) ? unescapedTarget() : noTarget() };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { fault: new AppError('request_timeout', 'The request did not arrive in time.') };
    default:
      return { fault: notHttp() };
  }
}

function unescapedTarget(): AppError {
  return new AppError('malformed_request', 'The URL holds characters that have to be percent-escaped.');
}

/** The beginning of a request line (RFC 9112 section 3): method and target. */
const METHOD_AND_TARGET = /^[!#$%&'*+.^_`|~\w-]+ (\S+)/;
/** A request line whatever its method: anything else was never meant as HTTP. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

function hasRequestLine(error: ParserError): boolean {
  return REQUEST_LINE.test(unreadableText(error));
}

function hasLongUrl(error: ParserError): boolean {
  return targetOf(error).length > MAX_URL_BYTES;
}

function hasUnescapedTarget(error: ParserError): boolean {
  return /[^\x21-\x7e]/.test(targetOf(error));
}

/** Only where it begins in the packet at fault: of a URL in several packets, only the last is known. */
function targetOf(error: ParserError): string {
  const [, target = ''] = METHOD_AND_TARGET.exec(unreadableText(error)) ?? [];
  return target;
}

/** The packet at fault, without the requests before in it. */
function unreadableText({ rawPacket, bytesParsed = 0 }: ParserError): string {
  if (!Buffer.isBuffer(rawPacket)) return '';
  const text = rawPacket.toString('latin1');
  // An error at the end of the header section is reported at the blank line, which is not one before the request.
  const blankLineAt = bytesParsed < 4 ? -1 : text.lastIndexOf('\r\n\r\n', bytesParsed - 4);
  return blankLineAt === -1 ? text : text.slice(blankLineAt + 4);
}
