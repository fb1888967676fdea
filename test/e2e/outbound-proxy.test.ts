import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { doctorCommand } from '../../src/cli/doctor.ts';
import { startWithoutEncoder } from '../helpers/app.ts';
import { startConnectProxy } from '../helpers/connect-proxy.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { recordLog } from '../helpers/log.ts';
import { runInProcess } from '../helpers/run-command.ts';

/* A proxy that establishes tunnels is in test/system/outbound-proxy.test.ts. */

const PASSWORD = 'a-password-that-nobody-may-see';
const settings = (port: number) => ({
  SOURCES: 'youtube',
  HTTPS_PROXY: `http://user:${PASSWORD}@127.0.0.1:${port}`,
  NO_PROXY: 'youtube.com, 10.0.0.0/8',
});

it.each(['refuses', 'closes the connection', 'is gone'])(
  'a proxy that %s is a YouTube that cannot be reached, and is named without its password',
  async (how) => {
    const proxy = await startConnectProxy((socket) => {
      socket.end(how === 'refuses' ? 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' : '');
    });
    if (how === 'is gone') await proxy.close();
    const { lines, logger } = recordLog();
    const service = await startWithoutEncoder({ env: settings(proxy.port), logger });
    for (let number = 0; number < 5; number += 1) {
      const response = await service.get(`/api/channel/${numberedChannelId(number)}`);
      expect([response.status, response.json().detail]).toEqual([503, 'YouTube cannot be reached from this server.']);
    }
    const { conditions } = await service.readiness();
    expect(conditions).toContainEqual({
      name: 'source youtube',
      cause: 'unreachable',
      detail: expect.stringContaining(`HTTPS_PROXY is http://127.0.0.1:${proxy.port}`),
    });
    expect(inspect([lines, conditions, await service.state()], { depth: 10 })).not.toContain(PASSWORD);
    if (how === 'is gone') return;
    expect(new Set(proxy.targets)).toEqual(new Set(['www.youtube.com:443']));
    expect(proxy.credentials).toEqual(new Set([`Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`]));
  },
);

it('the doctor names the proxy', async () => {
  const proxy = await startConnectProxy((socket) => void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  const { exitCode, stdout } = await runInProcess(doctorCommand, ['@handle'], { env: settings(proxy.port) });
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`http://127.0.0.1:${proxy.port}`)]);
  expect(stdout).toContain('502 Bad Gateway');
  expect(stdout).not.toContain(PASSWORD);
});
