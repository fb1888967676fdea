import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, startService } from '../helpers/service-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const SAMPLE = 'UCPennantSample00000001A';

test('a codec that hangs over an original is killed, and its clients are told so: upstream is not to blame', async () => {
  const service = await startService({ directory: await createTemporaryDirectory(), env: { ENCODERS: '1' } });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await expect.poll(() => childrenOf(service.pid)).toHaveLength(1);
  const [codec = 0] = await childrenOf(service.pid);
  process.kill(codec, 'SIGSTOP');

  const answer = await fetch(`${service.base}/${SAMPLE}/tv.webp`);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await answer.json()).toMatchObject({
    code: 'overloaded',
    detail: 'The picture could not be made at the moment.',
  });
  await expect.poll(() => childrenOf(service.pid)).not.toContain(codec);
  // The failure of the first picture is remembered for some seconds; another one shows that there is a new process.
  expect((await fetch(`${service.base}/UCPennantSample00000003A/tv.webp`)).status).toBe(200);
});
