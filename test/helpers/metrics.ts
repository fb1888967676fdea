/** The values in the text of `/metrics`, by the series' name with its labels. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.matchAll(/^([^#\n].*) (\S+)$/gm);
  return new Map([...lines].map(([, series = '', value]) => [series, Number(value)]));
}
