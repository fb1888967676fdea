import { expect, test } from 'vitest';
import { startEncoderChild } from './child.ts';

test('a task fails as soon as its process is killed, before the process has ended', async () => {
  const child = startEncoderChild(2 ** 30);
  const task = child.run({ original: Buffer.from('an original'), options: undefined });
  let isGone = false;
  void child.ended.then(() => {
    isGone = true;
  });
  child.kill('closed');
  await expect(task).rejects.toMatchObject({ reason: 'closed' });
  expect(isGone).toBe(false);
  await child.ended;
});
