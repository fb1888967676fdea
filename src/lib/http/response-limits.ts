import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { AppError } from '../../domain/errors.ts';

/*
 * What keeps a hostile upstream from using up CPU time with bytes that lead to nothing. The length and the deadline of a call
 * would still allow seconds of it.
 */

/** No known upstream sends more than one (103, RFC 8297). */
const MAX_INTERIM_RESPONSES = 10;

/** Pieces that the parser reports cost about the same whatever their length is. A body may begin with this many of any length. */
const FREE_CHUNKS = 1_000;
const MIN_MEAN_CHUNK_BYTES = 64;

/**
 * Everything that a call may receive: twice the longest body. Chunk extensions, a long reason phrase, blank lines and compressed
 * blocks without content never become part of a body.
 */
const MAX_RECEIVED_BYTES = 32 * 1024 * 1024;

/** An interceptor of undici. A call ends with `upstream_invalid` at the tenth interim response, or when its chunks are many and tiny. */
export function limitResponses(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => dispatch(options, withLimits(handler));
}

/** undici ends the call with what a handler throws. */
function withLimits(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let interimResponses = 0;
  let chunks = 0;
  let bytes = 0;
  return {
    onRequestStart: (...args) => handler.onRequestStart?.(...args),
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart(controller, status, headers, message) {
      if (status < 200) interimResponses += 1;
      if (interimResponses >= MAX_INTERIM_RESPONSES) throw invalid('The upstream sent too many interim responses.');
      handler.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData(controller, chunk) {
      chunks += 1;
      bytes += chunk.length;
      const isTiny = chunks > FREE_CHUNKS && bytes < chunks * MIN_MEAN_CHUNK_BYTES;
      if (isTiny) throw invalid('The upstream response came in too many tiny pieces.');
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}

/** Makes connections that are closed when a call on them receives too much. A connection has one call at a time. */
export function limitReceivedBytes(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      // Absent after a failure.
      if (result[1] != null) watch(result[1]);
      callback(...result);
    });
  };
}

function watch(socket: Socket): void {
  let sentBytes = 0;
  let receivedBytes = 0;
  let receivedBefore = 0;
  socket.on('readable', () => {
    // It has sent another request since the last bytes came.
    if (socket.bytesWritten !== sentBytes) receivedBefore = receivedBytes;
    sentBytes = socket.bytesWritten;
    receivedBytes = socket.bytesRead;
    if (receivedBytes - receivedBefore <= MAX_RECEIVED_BYTES) return;
    socket.destroy(invalid('The upstream response is too large.'));
  });
}

function invalid(message: string): AppError {
  return new AppError('upstream_invalid', message);
}
