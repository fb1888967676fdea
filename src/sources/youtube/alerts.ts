import { AppError } from '../../domain/errors.ts';
import { firstAt, type JsonObject, valuesAt } from './json.ts';
import { textOf } from './texts.ts';

/**
 * "This channel does not exist.", "This account has been terminated …" (nine reasons), "This channel was removed
 * because …": wordings seen from 2019 to 2026-07.
 */
const GONE = /does not exist|\bterminated\b|\bremoved\b/i;

/** The longest one seen has 140 characters. */
const MAX_ALERT_CHARACTERS = 500;

/** The text of a page's error alert, `""` for one without a text; `undefined` where there is none. */
export function findAlertText(page: JsonObject): string | undefined {
  const alert = valuesAt(page, 'alerts.*.alertRenderer').find((renderer) => firstAt(renderer, 'type') === 'ERROR');
  return alert === undefined ? undefined : (textOf(firstAt(alert, 'text')) ?? '').slice(0, MAX_ALERT_CHARACTERS);
}

/** What an error alert means: certainly no such channel, or anything else, from which nothing follows. */
export function alertError(text: string): AppError {
  const cause = new Error(text);
  if (GONE.test(text)) return new AppError('channel_not_found', 'There is no such channel.', { cause });
  return new AppError('upstream_unavailable', 'The video site did not show this channel.', { cause, scope: 'key' });
}
