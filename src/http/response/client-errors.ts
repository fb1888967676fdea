import type * as http from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../domain/errors.ts';
import { IncomingMessage, ServerResponse } from '../../lib/http/listener.ts';
import type { Connections } from '../connections.ts';
import { methodNotAllowed, NOT_HTTP } from '../request/admission.ts';
import { malformed } from '../request/target.ts';
import { HEADERS_TOO_LARGE } from './problems.ts';

/** An error that Node's HTTP parser reports instead of a request. */
interface ParserError extends Error {
  readonly code?: string | undefined;
  readonly rawPacket?: Buffer | undefined;
  /** Where in the packet the parser stopped. */
  readonly bytesParsed?: number;
}

/**
 * Sends `CONNECT`, and bytes that never become a request, through the pipeline. Node would close the connection with an empty
 * body or none. Such bytes count against the socket's own address, because they have no usable `X-Forwarded-For`.
 */
export function createClientErrors(
  connections: Connections,
  respond: (request: http.IncomingMessage, response: http.ServerResponse, fault: AppError) => void,
) {
  /** @param fault without one, the connection is closed */
  async function refuse(socket: Socket, fault: AppError | undefined, request = new IncomingMessage(socket)) {
    if (!(await connections.finish(socket))) return;
    if (fault === undefined) return connections.close(socket);
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    respond(request, response, fault);
  }

  return {
    /** For `clientError`: malformed bytes, or a request that did not arrive in time. */
    onParserError(error: ParserError, socket: Socket): void {
      if (error.code === 'ECONNRESET') socket.destroy();
      // A request with a malformed body gets its own response. The beginning of the next request is unknown.
      else void refuse(socket, connections.isInBody(socket) ? undefined : faultOf(error));
    },

    /** For `connect`: Node makes no response, only a request. */
    onConnect(request: http.IncomingMessage, socket: Socket): void {
      // Node has removed its own listener. Without one, a client that resets the connection would end the process.
      socket.on('error', () => socket.destroy());
      void refuse(socket, methodNotAllowed(), request);
    },
  };
}

const INVALID_TARGET = malformed(
  'The request target is no path or URL, or has characters that must be percent-encoded.',
);

/** By the code of Node's parser (llhttp). Any other code is a request that is not valid. */
const FAULTS: ReadonlyMap<string, AppError> = new Map([
  ['HPE_HEADER_OVERFLOW', HEADERS_TOO_LARGE],
  ['HPE_INVALID_URL', INVALID_TARGET],
  ['ERR_HTTP_REQUEST_TIMEOUT', new AppError('request_timeout', 'The request did not arrive in time.')],
]);

/** The beginning of a request line (RFC 9112 section 3) with any method. Anything else is not HTTP. */
const METHOD_AND_TARGET = /^[!#$%&'*+.^_`|~\w-]+ (?:\/|https?:\/\/)/;
/** The target has no space or control character. The line may end in the target or in the version, where a slice ends. */
const REQUEST_LINE = /^\S+ [^\0-\x20\x7f]+(?: [HTP/\d.]*)?$/;

function faultOf(error: ParserError): AppError {
  const { code = '', rawPacket, bytesParsed = 0 } = error;
  const isOfMethod = code === 'HPE_INVALID_METHOD' || code === 'HPE_INVALID_CONSTANT';
  const text = isOfMethod ? (rawPacket?.toString('latin1') ?? '') : '';
  const [line = ''] = text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1).split(/\r?\n/, 1);
  if (METHOD_AND_TARGET.test(line)) return REQUEST_LINE.test(line) ? methodNotAllowed() : INVALID_TARGET;
  return FAULTS.get(code) ?? malformed(NOT_HTTP);
}
