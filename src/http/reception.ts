import type { IncomingMessage, ServerResponse } from 'node:http';
import { latestChange } from '../lib/change-count.ts';
import type { Clock } from '../lib/clock.ts';
import { runInSpan } from '../lib/tracing.ts';
import type { BaseUrls } from './request/base-url.ts';
import type { ClientIdentification } from './request/client-address.ts';
import { begin, type Exchange } from './request/context.ts';
import { type Admission, type RateLimitGate, tooManyRequests } from './request/rate-limit.ts';
import { parseTarget } from './request/target.ts';
import type { RequestTracing } from './request/tracing.ts';
import { authorityOf, findRequestFault } from './request/validate.ts';
import type { RecentAnswers } from './response/micro-cache.ts';
import type { Answer } from './response/send.ts';
import { isLastAfterUpgrade } from './upgrade.ts';

/** Where every request comes in. */
export interface Reception {
  /** Counts it; gives it the answer that an equal one just got, or hands it on to the router. */
  receive(request: IncomingMessage, response: ServerResponse, handOn: () => void): void;
}

export interface ReceptionOptions {
  readonly gate: RateLimitGate;
  readonly clients: ClientIdentification;
  readonly baseUrls: BaseUrls;
  readonly clock: Clock;
  readonly nextRequestId: () => string;
  readonly recentAnswers: RecentAnswers;
  readonly tracing: RequestTracing;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
  readonly send: (exchange: Exchange, response: ServerResponse, answer: Answer) => void;
  readonly onUntrustedForward: (address: string) => void;
  /** Called for each admitted request, before anything is looked up for it. */
  readonly beforeLookUp?: (() => void) | undefined;
}

/**
 * Stands before the router: what is hot needs none, and Fastify's own request and reply would cost a tenth of such an
 * answer (measured by `npm run bench`).
 */
export function createReception(options: ReceptionOptions): Reception {
  const { gate, clients, baseUrls, clock, nextRequestId, recentAnswers, tracing, contact, send } = options;
  const { onUntrustedForward, beforeLookUp } = options;

  function admit(exchange: Exchange, response: ServerResponse, handOn: () => void): void {
    const { socket, headers } = exchange.request;
    const socketAddress = socket.remoteAddress ?? 'unknown';
    const forwardedFor = headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor !== undefined && !clients.isTrustedProxy(socketAddress)) onUntrustedForward(socketAddress);
    const admission = gate.admit(socketAddress, forwardedFor);
    if (admission instanceof Promise) {
      admission
        .then((decided) => goOn(exchange, response, decided, handOn))
        .catch((error: unknown) => answerBug(exchange, error, handOn));
    } else {
      goOn(exchange, response, admission, handOn);
    }
  }

  function goOn(exchange: Exchange, response: ServerResponse, admission: Admission, handOn: () => void): void {
    exchange.admission = admission;
    if (admission.isAllowed) beforeLookUp?.();
    exchange.changeBefore = latestChange();
    if (!admission.isAllowed) exchange.fault = tooManyRequests(admission, contact);
    const recent = exchange.fault === undefined ? recentAnswers.find(exchange) : undefined;
    if (recent === undefined) handOn();
    else send(exchange, response, recent);
  }

  function answerBug(exchange: Exchange, error: unknown, handOn: () => void): void {
    exchange.fault = error;
    handOn();
  }

  function schemeOf({ headers, socket }: IncomingMessage): 'http' | 'https' {
    const forwarded = headers['x-forwarded-proto'];
    if (forwarded === undefined || !clients.isTrustedProxy(socket.remoteAddress ?? '')) return 'http';
    return forwarded === 'https' ? 'https' : 'http';
  }

  return {
    receive(request, response, handOn) {
      const target = parseTarget(request.url ?? '/');
      const scheme = schemeOf(request);
      const authority = authorityOf(request, target);
      const base = baseUrls.find(authority, scheme);
      const exchange: Exchange = {
        id: nextRequestId(),
        receivedAtMs: clock.monotonic(),
        target,
        scheme,
        base: base ?? baseUrls.fallback,
        request,
        admission: undefined,
        changeBefore: 0,
        fault: findRequestFault({ request, target, authority, base }),
        route: undefined,
        isLast: isLastAfterUpgrade(request),
        isNegotiated: false,
        span: undefined,
      };
      begin(exchange);
      const span = tracing.start(exchange, response);
      try {
        if (span === undefined) admit(exchange, response, handOn);
        else runInSpan(span, () => admit(exchange, response, handOn));
      } catch (error) {
        answerBug(exchange, error, handOn);
      }
    },
  };
}
