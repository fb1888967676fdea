import { AppError } from '../../domain/errors.ts';

/**
 * A call that was never made, for a limit of our own: breaker open, budget or quota spent. It says nothing about the
 * upstream and never counts against it.
 */
export class OwnLimitError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'OwnLimitError';
  }
}

/** A day's quota is spent, or the part of it that may be spent now. */
export class QuotaSpentError extends OwnLimitError {}
