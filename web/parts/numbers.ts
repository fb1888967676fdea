/* Formats numbers, times and sizes in English, like the words of the pages. */

const COUNT = new Intl.NumberFormat('en');

/** @param count a whole number; in records a decimal string */
export function formatCount(count: string | number) {
  return COUNT.format(count as number | `${number}`);
}

export function formatBytes(bytes: number) {
  if (bytes < 1e3) return `${bytes} bytes`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

export function formatDuration(ms: number) {
  if (ms < 0.1) return '< 0.1 ms';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
