import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The file that `npm start` and the package's command run. */
export const PROGRAM = fileURLToPath(new URL('../../bin/pennant.cjs', import.meta.url));

/** The options that `npm start` gives to Node. */
export function startOptions(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: { start: string };
  };
  return /^exec node (.*) bin\/pennant\.cjs serve$/.exec(scripts.start)?.[1]?.split(' ') ?? [];
}
