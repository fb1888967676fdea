import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../../domain/errors.ts';
import { STATUS_CODES } from '../../lib/node-http.ts';
import type { RateLimiter } from '../../rate-limit/limiter.ts';
import { admit, type ClientIdentification, tooManyRequests } from '../request/client.ts';
import { type BaseUrls, methodNotAllowed, notHttp } from '../request/context.ts';
import { MAX_URL_BYTES, noTarget, urlTooLong } from '../request/target.ts';
import { type AccessLogEntry, UNPARSED } from './access-log.ts';
import { HEADERS_TOO_LARGE_STATUS, type ProblemResponse, problemResponse } from './problems.ts';
import { COMMON_HEADERS } from './response.ts';

/** A fault that Node's HTTP parser reports instead of a request. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: Buffer | undefined;
  /** Where in the packet the parser stopped. */
  readonly bytesParsed?: number;
}

/** The responses to Node's client errors. */
export interface ClientErrors {
  /** For `clientError`: bytes that are no request, or none in time. */
  onParserError(error: ParserError, socket: Duplex): void;
  /** For `connect`: Node hands over the bare socket. */
  onConnect(request: IncomingMessage, socket: Duplex): void;
}

export interface ClientErrorOptions {
  readonly limiter: RateLimiter;
  readonly clients: ClientIdentification;
  readonly nextRequestId: () => string;
  readonly baseUrls: Pick<BaseUrls, 'fallback'>;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
  readonly onResponse: (entry: AccessLogEntry) => void;
}

interface Refusal {
  readonly fault: AppError;
  /** In place of the problem's own. */
  readonly status?: number;
}

interface Decision {
  readonly fault: unknown;
  readonly status?: number;
  readonly limitHeaders: Readonly<Record<string, string>>;
}

/**
 * Responds to what never becomes a request. Node would close the connection with an empty body or none. Such bytes count
 * against the socket's own address: a request that cannot be read has no `X-Forwarded-For`.
 */
export function createClientErrors(options: ClientErrorOptions): ClientErrors {
  const { limiter, clients, nextRequestId, baseUrls, contact, onResponse } = options;
  /** Node also reports every packet that follows an unreadable one. */
  const refusedSockets = new WeakSet<Duplex>();

  /** Counts the request. The rate limit comes before every other fault. */
  async function decide(address: string, refusal: Refusal): Promise<Decision> {
    try {
      const admission = await admit(limiter, clients.identify(address, undefined));
      const decided = admission.isAllowed ? refusal : { fault: tooManyRequests(admission, contact) };
      return { ...decided, limitHeaders: admission.headers };
    } catch (error) {
      return { fault: error, limitHeaders: {} };
    }
  }

  async function refuse(socket: Duplex, refusal: Refusal): Promise<void> {
    if (!isFirstFault(socket)) return;
    const id = nextRequestId();
    const address = addressOf(socket);
    const { fault, status, limitHeaders } = await decide(address, refusal);
    const problem = problemResponse(fault, { base: baseUrls.fallback, id, ...(status !== undefined && { status }) });
    const { failure } = problem;
    await earlierResponses(socket);
    if (socket.writable) endAndClose(socket, messageOf(problem, { 'x-request-id': id, ...limitHeaders }));
    else if (failure === undefined) return;
    const client = clients.identify(address, undefined).address;
    onResponse({
      route: UNPARSED,
      status: problem.status,
      seconds: 0,
      requestId: id,
      method: '',
      path: '',
      client,
      failure,
    });
  }

  /** A request with a broken body gets its own response. Where the next request begins is unknown. */
  async function closeAfterResponses(socket: Duplex): Promise<void> {
    if (!isFirstFault(socket)) return;
    await earlierResponses(socket);
    if (socket.writable) endAndClose(socket);
  }

  /** False also for a connection that is closing already, with its last response on the way. */
  function isFirstFault(socket: Duplex): boolean {
    if (refusedSockets.has(socket) || !socket.writable) return false;
    refusedSockets.add(socket);
    return true;
  }

  return {
    onParserError(error, socket) {
      if (error.code === 'ECONNRESET') socket.destroy();
      else if (isInBody(socket)) void closeAfterResponses(socket);
      else void refuse(socket, refusalFor(error));
    },
    onConnect(_request, socket) {
      // Node has removed its own listener: without one, a client that resets the connection would end the process.
      socket.on('error', () => socket.destroy());
      void refuse(socket, { fault: methodNotAllowed() });
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

/** With unread bytes, the kernel would reset the connection before the client has read the response. */
const LINGER_MS = 1_000;

/** Closes both sides of the connection: Node would leave its own open for as long as the client does. */
function endAndClose(socket: Duplex, text?: string): void {
  socket.end(text);
  socket.resume();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}

function addressOf(socket: Duplex): string {
  return (socket as Duplex & { remoteAddress?: string }).remoteAddress ?? 'unknown';
}

/** What Node keeps on a socket. There are no public names for it. */
interface HttpSocket extends Duplex {
  /** The response that is being written. Those to pipelined requests follow it. */
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: { readonly complete: boolean } | null } | null;
}

/** Waits until earlier requests have their responses: more bytes would end up in the middle of them. */
async function earlierResponses(socket: HttpSocket): Promise<void> {
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
  return new AppError('malformed_request', 'The URL contains characters that must be percent-encoded.');
}

/** The beginning of a request line (RFC 9112 section 3): method and target. */
const METHOD_AND_TARGET = /^[!#$%&'*+.^_`|~\w-]+ (\S+)/;
/** A request line with any method. Anything else is not HTTP. */
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

/** Empty when the request line is not in this packet: of a URL in several packets, only the last is known. */
function targetOf(error: ParserError): string {
  const [, target = ''] = METHOD_AND_TARGET.exec(unreadableText(error)) ?? [];
  return target;
}

/** The packet at fault without the requests before it. */
function unreadableText({ rawPacket, bytesParsed = 0 }: ParserError): string {
  if (rawPacket === undefined) return '';
  const text = rawPacket.toString('latin1');
  // An error at the end of the header section is reported at its own blank line.
  const blankLineAt = bytesParsed < 4 ? -1 : text.lastIndexOf('\r\n\r\n', bytesParsed - 4);
  return blankLineAt === -1 ? text : text.slice(blankLineAt + 4);
}
