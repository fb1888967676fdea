/** Empties dist/ and copies the files that the code reads and the compiler does not: `npm run build` */
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
const OUTPUT = fileURLToPath(new URL('../dist', import.meta.url));

rmSync(OUTPUT, { recursive: true, force: true });
cpSync(SOURCE, OUTPUT, { recursive: true, filter: (path) => !path.endsWith('.ts') });
