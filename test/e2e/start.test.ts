import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';

test('the store is open before the first request, so that no stored value is missed on a busy machine', async () => {
  const service = await startTestApp();
  onTestFinished(() => service.close());
  expect(existsSync(join(service.dataDir, 'cache.db'))).toBe(true);
});
