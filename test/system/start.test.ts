import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../helpers/service-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

test('what makes the next start quick is written before it listens, not while clients wait', async () => {
  const directory = await createTemporaryDirectory();
  const { child, base } = await startService({ directory });
  onTestFinished(() => void child.kill('SIGKILL'));
  const compiled = () => readdir(join(directory, 'data', 'compile-cache'), { recursive: true });
  const atFirst = (await compiled()).length;
  await fetch(base);
  expect(atFirst).toBeGreaterThan(100);
  expect((await compiled()).length).toBe(atFirst);
});
