/**
 * How alerts say that there is no such channel, with the day of a recording. A wording without a day is a guess.
 * In contractions, "n't" is read as " not".
 */
const WORDINGS: readonly { readonly seen?: string; readonly wording: RegExp }[] = [
  { seen: '2026-07-02', wording: /\b(?:channel|account|user) does not exist\b/i },
  { seen: '2026-07-02', wording: /\b(?:channel|account|user) (?:has been|was|is) terminated\b/i },
  { wording: /\b(?:channel|account|user) (?:has been|was|is) removed\b/i },
  { wording: /\b(?:channel|account|user) (?:has been|was|is) (?:closed|deleted|suspended)\b/i },
  { wording: /\b(?:channel|account|user) no longer exists\b/i },
  { wording: /\b(?:channel|account|user) is (?:no longer available|not available any ?more)\b/i },
  { wording: /^(?:channel|account) (?:closed|deleted|terminated|suspended|not found)\b/i },
];

/** True if the alert says that there is no such channel. Every other alert tells nothing about that ("not available in your country"). */
export function saysGone(alert: string): boolean {
  const text = alert.replaceAll('’', "'").replaceAll(/n't\b/gi, ' not').replaceAll(/\s+/g, ' ').trim();
  return WORDINGS.some(({ wording }) => wording.test(text));
}
