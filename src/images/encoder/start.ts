/* The entry point of an encoder process. It tells the server its version, or why it cannot work. */

import { flushCompileCache } from 'node:module';
import type { EncoderGreeting } from './job.ts';

function greet(greeting: EncoderGreeting, done = () => {}): void {
  process.send?.(greeting, done);
}

try {
  const [{ readEncoderVersion }] = await Promise.all([import('./version.ts'), import('./process.ts')]);
  greet({ kind: 'ready', version: readEncoderVersion() });
  // Not at the end, because the server kills this process. It does nothing without a compile cache.
  flushCompileCache();
} catch (error) {
  // Loading fails if an upgrade has replaced or removed files. The server logs the reason.
  greet({ kind: 'unusable', reason: (error as Error).message }, () => process.exit(1));
}
