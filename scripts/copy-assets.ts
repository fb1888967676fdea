/** Empties dist/ and puts into it what the compiler leaves out: the files that the code reads beside its own. `npm run build` */
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../dist', import.meta.url));

rmSync(OUTPUT, { recursive: true, force: true });
cpSync(SOURCE, OUTPUT, { recursive: true, filter: (path) => !path.endsWith('.ts') });
