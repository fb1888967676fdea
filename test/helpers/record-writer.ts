/** A process that stores records without end, for tests that kill it: `node record-writer.ts DATABASE`. */
import { createSqliteStore } from '../../src/store/sqlite.ts';

const [, , path = ''] = process.argv;
const store = createSqliteStore({ path, maxBytes: 50_000_000, onEvent: () => undefined });

for (let number = 0; ; number += 1) {
  const key = `record ${number % 500}`;
  await store.set(key, { value: key.repeat(100 + (number % 200)), storedAtMs: number }, 3_600_000);
  if (number === 20) process.stdout.write('writing\n');
}
