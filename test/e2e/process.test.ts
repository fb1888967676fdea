import { expect, onTestFinished, test } from 'vitest';
import { decodeImage } from '../helpers/image.ts';
import { startService } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

test('the program serves a record and an image, and ends with status 0 on SIGTERM', async () => {
  const service = await startService({ directory: await createTemporaryDirectory() });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  const image = await fetch(`${service.base}/@pennantsample/avatar.jpg?width=64`);
  expect(await decodeImage(Buffer.from(await image.arrayBuffer()))).toMatchObject({ format: 'jpeg', width: 64 });
  const response = await fetch(`${service.base}/api/channel/pennantsample?type=handle`);
  expect(await response.json()).toMatchObject({ channelId: 'UCPennantSample00000001A', title: 'Pennant Sample' });
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
});
