/* Formats numbers, times and sizes in the browser's language. */

const grouped = new Intl.NumberFormat();

/** @param count a whole number; in records a decimal string */
export function formatCount(count: string | number) {
  return grouped.format(BigInt(count));
}

export function formatBytes(bytes: number) {
  const [unit, size] =
    bytes < 1e3 ? ['byte', 1] : bytes < 1e6 ? ['kilobyte', 1e3] : bytes < 1e9 ? ['megabyte', 1e6] : ['gigabyte', 1e9];
  const format = new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: String(unit),
    unitDisplay: unit === 'byte' ? 'long' : 'short',
    maximumFractionDigits: bytes < 1e3 ? 0 : 1,
  });
  return format.format(bytes / Number(size));
}

export function formatDuration(ms: number) {
  if (ms < 0.1) return '< 0.1 ms';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

export function formatSeconds(ms: number) {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`;
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

export function formatDate(iso: string) {
  return dates.format(new Date(iso));
}

const countries = new Intl.DisplayNames(undefined, { type: 'region' });

/** @param code ISO 3166-1 alpha-2 */
export function formatCountry(code: string) {
  return countries.of(code) ?? code;
}
