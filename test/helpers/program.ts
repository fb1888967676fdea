import { fileURLToPath } from 'node:url';

/** What `npm start` and the package's command run. */
export const PROGRAM = fileURLToPath(new URL('../../bin/pennant.cjs', import.meta.url));
