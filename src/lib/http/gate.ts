import { AppError, FAILURES, type FailureKind, valueOrError } from '../../domain/errors.ts';
import { type BreakerState, type CallFailure, createBreaker, type Verdict } from '../breaker.ts';
import type { Clock } from '../clock.ts';
import { isAbandoned } from '../deadlines.ts';
import { describeFailure } from '../logger.ts';
import { currentClient } from '../request-scope.ts';
import { type CallBudget, NotSentError } from './call-budget.ts';
import { ConnectionError, type HttpClient, type HttpRequest, type HttpResponse } from './http-client.ts';

export type Gate = ReturnType<typeof createGate>;

interface GateOptions {
  readonly clock: Clock;
  readonly http: Pick<HttpClient, 'request'>;
  /** Of all gates to the same side together. */
  readonly budget: Pick<CallBudget, 'take'>;
  /** The other side, as the subject of a sentence. */
  readonly label: string;
  /** Called when the breaker opens for another cause, and with `undefined` when it closes. */
  readonly onChange?: (state: BreakerState | undefined) => void;
}

/** A call that was not sent because the breaker is open. */
class BreakerOpenError extends NotSentError {}

/** A failure after which the breaker is open. */
class BreakerOpeningError extends AppError {}

/** True for a failure that the state of a breaker explains. */
export function isExplainedByBreaker(error: unknown): boolean {
  return error instanceof BreakerOpenError || error instanceof BreakerOpeningError;
}

/** The way to one thing that another side limits. */
export function createGate({ clock, http, budget, label, onChange }: GateOptions) {
  const breaker = createBreaker(clock);

  const sentenceOf = (kind: FailureKind) => `${label} ${FAILURES[kind].predicate}.`;
  const msLeft = () => (breaker.state()?.untilMs ?? 0) - clock.now();

  function throwIfOpen(waitMs: number): void {
    const state = breaker.state();
    if (state !== undefined && waitMs > 0) throw new BreakerOpenError(sentenceOf(state.cause), waitMs);
  }

  async function send(request: HttpRequest): Promise<HttpResponse | AppError> {
    const first = await valueOrError(http.request(request));
    if (!deservesRetry(first) || request.signal.aborted) return first;
    const turn = await valueOrError(budget.take(currentClient(), request.signal));
    return turn instanceof AppError ? first : valueOrError(http.request(request));
  }

  function settle(key: string, verdict?: Verdict): void {
    const before = breaker.state();
    breaker.settle(key, verdict);
    const state = breaker.state();
    if (state?.cause !== before?.cause) onChange?.(state);
  }

  function errorOf({ kind, detail }: CallFailure): AppError {
    const { code, scope = 'upstream' } = FAILURES[kind];
    const options = { cause: new Error(detail), scope } as const;
    const retryAfterMs = msLeft();
    if (retryAfterMs <= 0) return new AppError(code, sentenceOf(kind), options);
    return new BreakerOpeningError(code, sentenceOf(kind), { ...options, retryAfterMs });
  }

  return {
    /**
     * Sends a request when its turn has come, unless the breaker is open. Retries once after a connection error or a 5xx: all
     * our calls only read.
     *
     * @param key identifies what is asked for, because a failure may concern only that
     * @param judge says what a response means. Pure
     * @param options `isBeside`: another call decides whether calls work, so only a refusal of this one counts
     * @returns the value of an answer
     * @throws NotSentError if the request is not sent, AppError of an answer or a failure, or `upstream_timeout` when the signal is aborted
     */
    async request<T>(
      request: HttpRequest,
      key: string,
      judge: (response: HttpResponse) => Verdict<T>,
      { isBeside = false } = {},
    ): Promise<T> {
      // A call that will not be sent takes no turn.
      throwIfOpen(msLeft());
      await budget.take(currentClient(), request.signal);
      throwIfOpen(breaker.admit(key));
      let verdict: Verdict<T> | undefined;
      try {
        const result = await send(request);
        if (result instanceof AppError && isAbandoned(request.signal)) throw result;
        verdict = result instanceof AppError ? judgeError(result) : judge(result);
      } finally {
        const counts = !isBeside || verdict?.kind === 'refused' || verdict?.kind === 'unexplained';
        settle(key, counts ? verdict : undefined);
      }
      if (verdict.kind !== 'answered') throw errorOf(verdict);
      if (verdict.value instanceof AppError) throw verdict.value;
      return verdict.value;
    },
    /** `undefined` while calls are made. */
    state: breaker.state,
  };
}

function deservesRetry(result: HttpResponse | AppError): boolean {
  return result instanceof AppError ? result instanceof ConnectionError : result.status >= 500;
}

/** What an error of the client means. */
function judgeError(error: AppError): Verdict<never> {
  const detail = describeFailure(error);
  if (error instanceof ConnectionError) return { kind: 'unreachable', detail };
  return { kind: error.code === 'upstream_timeout' ? 'late' : 'unreadable', detail };
}
