import { describe, expect, test } from 'vitest';
import { startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

type Line = Readonly<Record<string, unknown>>;

async function start(env: Record<string, string>) {
  const service = await startServiceForTest({ directory: await createTemporaryDirectory(), env });
  function lines(): Line[] {
    const texts = service.output().split('\n');
    return texts.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as Line);
  }
  return { ...service, lines };
}

describe('a reader of the log that stops reading', () => {
  async function startUnread() {
    const service = await start({ ACCESS_LOG: 'on' });
    service.child.stdout?.pause();
    return service;
  }

  async function request({ base }: { base: string }, count: number) {
    for (let left = count; left > 0; left -= 50) {
      const some = Array.from({ length: Math.min(left, 50) }, () => fetch(`${base}/?x=${'x'.repeat(3_500)}`));
      for (const response of await Promise.all(some)) expect(response.status).toBe(200);
    }
  }

  test('keeps no request from its response, and lines beyond a bound are dropped and counted', async () => {
    const service = await startUnread();
    await request(service, 500);
    const metrics = await (await fetch(`${service.inside}/metrics`)).text();
    const dropped = Number(/^pennant_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    expect(dropped).toBeGreaterThan(0);

    service.child.stdout?.resume();
    const count = () => service.lines().filter(({ msg }) => msg === 'request').length;
    await expect.poll(count).toBe(500 - dropped);
    await request(service, 1);
    await expect.poll(count).toBe(501 - dropped);
  });
});

test('standard output that is no terminal gets lines of JSON only, with what a terminal would show', async () => {
  const service = await start({ LOG_LEVEL: 'error', SOURCES: 'catalog' });
  expect((await fetch(`${service.base}/channel/UCPennantSample00000001A`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.closed).toBe(0);
  const inside = service.inside.replace('127.0.0.1', 'localhost');
  const texts = service.stdout().trimEnd().split('\n');
  expect(texts.map((text) => JSON.parse(text))).toEqual([
    {
      level: 30,
      time: expect.any(String),
      playground: `${inside}/playground/`,
      console: `${inside}/`,
      msg: `Pennant listens on 127.0.0.1:${service.port}.`,
    },
  ]);
  expect(service.stderr()).toBe('');
});

test('a bug that ends the service is logged with its stack, whatever the log level is', async () => {
  const throwing = encodeURIComponent(`process.on('SIGUSR2', () => { throw new Error('a bug') })`);
  const service = await start({ LOG_LEVEL: 'silent', NODE_OPTIONS: `--import=data:text/javascript,${throwing}` });
  service.child.kill('SIGUSR2');
  expect(await service.closed).toBe(1);
  expect(service.lines().at(-1)).toMatchObject({
    level: 60,
    msg: 'the service ends because of a bug',
    err: { message: 'a bug', stack: expect.stringContaining('at process') },
  });
});
