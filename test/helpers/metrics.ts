/** The values in the text of `/metrics`, by the series' name with its labels. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const valueAt = line.lastIndexOf(' ');
      return [line.slice(0, valueAt), Number(line.slice(valueAt + 1))];
    }),
  );
}
