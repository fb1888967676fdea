const DAY_MS = 86_400_000;
const PACIFIC = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/**
 * The time until quotas are renewed, at midnight in Pacific time: developers.google.com/youtube/v3/getting-started#quota (seen
 * 2026-11). Wrong by an hour on the two days a year when the clocks change.
 */
export function msUntilNewQuota(nowMs: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = PACIFIC.format(nowMs).split(':').map(Number);
  return DAY_MS - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}
