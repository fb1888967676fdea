/* Where an encoder process begins: it tells the server of which version it is, or why it cannot work. */

import type { EncoderGreeting } from './job.ts';

function greet(greeting: EncoderGreeting, done = () => {}): void {
  process.send?.(greeting, done);
}

try {
  const [{ readEncoderVersion }] = await Promise.all([import('./version.ts'), import('./process.ts')]);
  greet({ kind: 'ready', version: readEncoderVersion() });
} catch (error) {
  // Loading fails where an upgrade has replaced or removed files. The server writes the one line for the log.
  greet({ kind: 'unusable', reason: (error as Error).message }, () => process.exit(1));
}
