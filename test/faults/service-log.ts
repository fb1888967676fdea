import type { ServiceProcess } from '../helpers/service-process.ts';

export interface LogLine {
  readonly part?: string;
  readonly kind?: string;
  readonly reason?: string;
  readonly msg: string;
}

/** What the service has logged; what it writes that is no log (the greeting) is left out. */
export function logOf({ output }: ServiceProcess): readonly LogLine[] {
  return output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** How often a part was said to fail and to work again: an operator wants to read either once. */
export function statesOf(
  service: ServiceProcess,
  part: string,
): { readonly failed: number; readonly recovered: number } {
  const lines = logOf(service).filter((line) => line.part === part);
  const recovered = lines.filter(({ msg }) => msg.endsWith('works again')).length;
  return { failed: lines.length - recovered, recovered };
}
