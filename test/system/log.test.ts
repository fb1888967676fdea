import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../helpers/service-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

type Line = Readonly<Record<string, unknown>>;

async function start(env: Record<string, string>) {
  const service = await startService({ directory: await createTemporaryDirectory(), env });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  function lines(): Line[] {
    const texts = service.output().split('\n');
    return texts.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as Line);
  }
  return { ...service, lines };
}

test('every line on the way of a failing request names the request', async () => {
  // Nobody listens on the discard port.
  const { base, lines } = await start({ SOURCES: 'youtube', YOUTUBE_ORIGIN: 'http://127.0.0.1:9' });
  const answer = await fetch(`${base}/api/channel/lighthouse?type=handle`);
  expect(answer.status).toBe(503);
  const requestId = answer.headers.get('x-request-id');
  await expect.poll(() => lines().map(({ msg }) => msg)).toEqual(['source failed', 'request failed']);
  expect(lines().map((line) => line.requestId)).toEqual([requestId, requestId]);
});

test('the access log is off unless it is asked for, and cuts addresses', async () => {
  const quiet = await start({});
  const talking = await start({ ACCESS_LOG: 'on' });
  for (const { base } of [quiet, talking]) await fetch(`${base}/channel/UCPennantSample00000001A?x=1`);
  await expect.poll(() => talking.lines().length).toBe(1);
  expect(talking.lines()[0]).toMatchObject({
    msg: 'request',
    method: 'GET',
    path: '/channel/UCPennantSample00000001A?x=1',
    route: '/channel/:identifier',
    status: 200,
    cache: 'miss',
    client: '127.0.0.0/24',
    requestId: expect.any(String),
    durationMs: expect.any(Number),
  });
  expect(quiet.lines()).toEqual([]);
});
