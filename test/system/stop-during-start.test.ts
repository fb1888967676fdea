import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, launchService } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/** Runs it as process 1 of a container, for which the kernel drops signals without a handler. */
const AS_PROCESS_1 = ['unshare', '--fork', '--pid', '--kill-child'];

const STARTS = [
  { as: 'an ordinary process', prefix: [] },
  ...(canBeProcess1() ? [{ as: 'process 1', prefix: AS_PROCESS_1 }] : []),
];

test.each(STARTS)('a start as $as exits with 0 on SIGTERM', async ({ prefix }) => {
  // The start waits for a Redis that never responds.
  const redis = createServer().listen(0, '127.0.0.1');
  await once(redis, 'listening');
  const { port } = redis.address() as { port: number };
  const directory = await createTemporaryDirectory();
  const { child, ended, output } = launchService({
    directory,
    prefix,
    env: { REDIS_URL: `redis://127.0.0.1:${port}` },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    redis.close();
  });
  const [socket] = (await once(redis, 'connection')) as [Socket];
  socket.on('error', () => undefined);
  const { pid = 0 } = child;
  const [service = pid] = prefix.length > 0 ? await childrenOf(pid) : [];
  process.kill(service, 'SIGTERM');
  expect(await ended).toBe(0);
  expect(output()).not.toContain('listens on');
});

function canBeProcess1(): boolean {
  const [command = '', ...args] = AS_PROCESS_1;
  if (spawnSync(command, [...args, 'true']).status === 0) return true;
  console.log('SKIPPED: no PID namespace can be made here, so stopping process 1 is not tested.');
  return false;
}
