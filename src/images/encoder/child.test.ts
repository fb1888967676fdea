import { expect, test } from 'vitest';
import { startEncoderChild } from './child.ts';

test('a task is given up as soon as its process is killed: on a busy machine that may take a while to be gone', async () => {
  const child = startEncoderChild();
  const task = child.run({ kind: 'inspect', original: { path: '/nowhere' } });
  let isGone = false;
  void child.ended.then(() => {
    isGone = true;
  });
  child.kill();
  await expect(task).rejects.toThrow('killed');
  expect(isGone).toBe(false);
  await child.ended;
});
