/*
 * Changes of what may be kept (a purge, a take-down, an import) are numbered across the process. Work remembers the
 * latest number when it begins, and keeps nothing that a later change concerns.
 */

let latest = 0;

export function latestChange(): number {
  return latest;
}

export function nextChange(): number {
  latest += 1;
  return latest;
}
