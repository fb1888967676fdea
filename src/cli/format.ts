const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const UNIT_STEP = 1024;

/** `1.4 MiB` */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(UNIT_STEP)));
  return power === 0 ? `${bytes} bytes` : `${(bytes / UNIT_STEP ** power).toFixed(1)} ${UNITS[power]}`;
}

/** `1 record`, `2 records` */
export function formatCount(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
