/* Formats numbers, times and sizes in the browser's language. */

const grouped = new Intl.NumberFormat();

/**
 * A count of a record: a decimal string.
 *
 * @param {string} count
 */
export function formatCount(count) {
  return grouped.format(BigInt(count));
}

/** @param {number} bytes */
export function formatBytes(bytes) {
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

/** @param {number} ms */
export function formatDuration(ms) {
  if (ms < 0.1) return '< 0.1 ms';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** @param {number} ms */
export function formatSeconds(ms) {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`;
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'long' });

/** @param {string} iso */
export function formatDate(iso) {
  return dates.format(new Date(iso));
}

const countries = new Intl.DisplayNames(undefined, { type: 'region' });

/** @param {string} code ISO 3166-1 alpha-2 */
export function formatCountry(code) {
  return countries.of(code) ?? code;
}
