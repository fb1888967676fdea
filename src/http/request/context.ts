import type { IncomingMessage } from 'node:http';
import type { Span } from '../../lib/tracing.ts';
import type { Admission } from './rate-limit.ts';
import type { RequestTarget } from './target.ts';

/** A request on its way to its answer, from the arrival of its header section on. */
export interface Exchange {
  readonly id: string;
  /** Monotonic. */
  readonly receivedAtMs: number;
  readonly target: RequestTarget;
  /** As the client sees it. */
  readonly scheme: 'http' | 'https';
  /** The origin that URLs in the response start with; empty where the request does not say which host it asks. */
  readonly base: string;
  readonly request: IncomingMessage;
  /** Set before anything is answered. */
  admission: Admission | undefined;
  /** The latest change (`lib/change-count.ts`) before anything was looked up for it. */
  changeBefore: number;
  /** Why it is refused, whatever its path. */
  fault: unknown;
  /** As the router knows it: `/api/channel/:identifier`; unset for what it does not know. */
  route: string | undefined;
  /** The connection cannot be used for another request. */
  readonly isLast: boolean;
  /** The format of the answer follows `Accept`, errors included. */
  isNegotiated: boolean;
  /** In a request that is traced. */
  span: Span | undefined;
}

/** Carries it through the router, which hands on Node's request alone: a WeakMap costs far more. */
const EXCHANGE = Symbol('exchange');
interface BegunMessage extends IncomingMessage {
  [EXCHANGE]?: Exchange;
}

export function begin(exchange: Exchange): void {
  (exchange.request as BegunMessage)[EXCHANGE] = exchange;
}

export function exchangeOf(request: IncomingMessage): Exchange {
  const exchange = (request as BegunMessage)[EXCHANGE];
  if (exchange === undefined) throw new Error('A request came past the reception.');
  return exchange;
}
