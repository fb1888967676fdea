import { expect, onTestFinished, test } from 'vitest';
import { blockWith } from '../helpers/documents.ts';
import { redirectTo } from '../helpers/fake-upstream.ts';
import { findNginx, replaceEach, useNginx } from '../helpers/front.ts';
import { findFreePort } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startYoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const IMAGE = `/${LIGHTHOUSE}/tv.png`;

/** A real nginx with the relay of docs/youtube.md, in which addresses and paths are replaced, and TLS to YouTube is left out. */
async function startRelay(upstream: string) {
  const port = await findFreePort();
  const { host } = new URL(upstream);
  const configuration = replaceEach(blockWith('docs/youtube.md', 'listen 10.0.0.2:8090'), [
    ['allow 10.0.0.1', 'allow 127.0.0.1'],
    ['listen 10.0.0.2:8090', `listen 127.0.0.1:${port}`],
    [' www.youtube.com', ` ${host}`],
    [' yt3.googleusercontent.com', ` ${host}`],
    ['proxy_pass https://$upstream', 'proxy_pass http://$upstream'],
  ]);
  await useNginx(configuration, await createTemporaryDirectory());
  return `http://127.0.0.1:${port}`;
}

test.skipIf(!findNginx())(
  'records, searches and images come through the relay, and refusals are recognized',
  async () => {
    const running = await startYoutubeService();
    const { replay } = running;
    const relayed = await startYoutubeService({}, { env: { YOUTUBE_ORIGIN: await startRelay(replay.origin) } });
    onTestFinished(async () => {
      await relayed.close();
      await running.close();
    });
    const { service } = relayed;
    for (const url of [`/api/channel/${LIGHTHOUSE}`, '/api/channel/bellrocklight?type=handle', '/api/search?q=light']) {
      expect([url, (await service.get(url)).json()]).toEqual([url, (await running.service.get(url)).json()]);
    }
    const [image, same] = [await service.get(IMAGE), await running.service.get(IMAGE)];
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/png']);
    expect(image.bytes).toEqual(same.bytes);
    expect(relayed.replay.calls).toEqual([]);
    expect(replay.calls.length).toBeGreaterThan(0);

    replay.misbehave('all', redirectTo('https://consent.youtube.com/m'));
    expect((await service.get('/api/channel/UCreplayQuiet00000000007')).status).toBe(503);
    const [condition] = (await service.readiness()).conditions;
    expect(condition?.detail).toContain('redirect to https://consent.youtube.com/m');
  },
);
