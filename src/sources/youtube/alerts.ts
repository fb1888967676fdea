import { AppError } from '../../domain/errors.ts';
import { firstAt, type JsonObject, valuesAt } from './json.ts';
import { textOf } from './texts.ts';

/**
 * "This channel does not exist.", "This account has been terminated …" (nine reasons), "This channel was removed
 * because …": wordings seen from 2019 to 2026-07.
 */
const GONE = /does not exist|\bterminated\b|\bremoved\b/i;

/**
 * What a page without a channel on it says in its error alert: certainly no such channel, or anything else, from which
 * nothing follows. `undefined` without such an alert.
 */
export function findAlertError(page: JsonObject): AppError | undefined {
  const alert = valuesAt(page, 'alerts.*.alertRenderer').find((renderer) => firstAt(renderer, 'type') === 'ERROR');
  if (alert === undefined) return undefined;
  const text = textOf(firstAt(alert, 'text')) ?? '';
  if (GONE.test(text)) {
    return new AppError('channel_not_found', 'There is no such channel.', { cause: new Error(text) });
  }
  return new AppError('upstream_unavailable', 'The video site did not show this channel.', { cause: new Error(text) });
}
