import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { runInSpan } from '../lib/tracing/span.ts';
import type { Answer } from './answer.ts';
import type { ClientIdentification } from './client-ip.ts';
import { begin, type Exchange } from './exchange.ts';
import type { Admission, RateLimitGate } from './rate-limit.ts';
import type { RecentAnswers } from './recent-answers.ts';
import { findRequestFault } from './request-check.ts';
import type { RequestTracing } from './request-tracing.ts';
import { parseTarget } from './target.ts';

/** Where every request comes in. */
export interface Reception {
  /** Counts it; gives it the answer that an equal one just got, or hands it on to the router. */
  receive(request: IncomingMessage, response: ServerResponse, handOn: () => void): void;
}

export interface ReceptionOptions {
  readonly gate: RateLimitGate;
  readonly clients: ClientIdentification;
  readonly clock: Clock;
  readonly nextRequestId: () => string;
  readonly recentAnswers: RecentAnswers;
  /** Without it nothing is traced. */
  readonly tracing: RequestTracing | undefined;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
  readonly send: (exchange: Exchange, response: ServerResponse, answer: Answer) => void;
  readonly onUntrustedForward: (address: string) => void;
}

/**
 * Stands before the router: what is hot needs none, and Fastify's own request and reply would cost a tenth of such an
 * answer (measured by `npm run bench`).
 */
export function createReception(options: ReceptionOptions): Reception {
  const { gate, clients, clock, nextRequestId, recentAnswers, tracing, contact, send, onUntrustedForward } = options;

  function admit(exchange: Exchange, response: ServerResponse, handOn: () => void): void {
    const { socket, headers } = exchange.request;
    const socketAddress = socket.remoteAddress ?? 'unknown';
    const forwardedFor = headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor !== undefined && !clients.isTrustedProxy(socketAddress)) onUntrustedForward(socketAddress);
    const admission = gate.admit(socketAddress, forwardedFor);
    if (admission instanceof Promise) {
      admission.then(
        (decided) => goOn(exchange, response, decided, handOn),
        (error: unknown) => {
          exchange.fault = error;
          handOn();
        },
      );
    } else {
      goOn(exchange, response, admission, handOn);
    }
  }

  function goOn(exchange: Exchange, response: ServerResponse, admission: Admission, handOn: () => void): void {
    exchange.admission = admission;
    exchange.fault = admission.isAllowed
      ? findRequestFault(exchange.request, exchange.target)
      : tooManyRequests(admission, contact);
    const recent = exchange.fault === undefined ? recentAnswers.find(exchange) : undefined;
    if (recent === undefined) handOn();
    else send(exchange, response, recent);
  }

  return {
    receive(request, response, handOn) {
      const exchange: Exchange = {
        id: nextRequestId(),
        receivedAtMs: clock.monotonic(),
        target: parseTarget(request.url ?? '/'),
        request,
        admission: undefined,
        fault: undefined,
        route: undefined,
        isNegotiated: false,
        span: undefined,
      };
      begin(exchange);
      const span = tracing?.start(exchange, response);
      if (span === undefined) admit(exchange, response, handOn);
      else runInSpan(span, () => admit(exchange, response, handOn));
    },
  };
}

function tooManyRequests({ retryAfterMs, headers }: Admission, contact: string | undefined): AppError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
  const policy = `${headers['x-ratelimit-limit']} requests`;
  return new AppError('rate_limited', `More than ${policy}: wait ${seconds} s.${more}`, { retryAfterMs });
}
