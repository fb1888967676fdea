import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { addCommand } from '../../src/cli/add.ts';
import { startTestApp } from '../helpers/app.ts';
import { writeCatalog } from '../helpers/catalog.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { type ReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { runInProcess } from '../helpers/run-command.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

/* `pennant add`, with a replayed YouTube as the source. */

const ID = 'UCreplayLighthouse000001';

let upstream: ReplayServer;
let dataDir: string;
let env: Record<string, string>;
beforeEach(async () => {
  upstream = await startReplayForTest();
  dataDir = await createTemporaryDirectory();
  env = { ...youtubeSettings(upstream.origin), SOURCES: 'catalog,youtube' };
});

const add = (...channels: string[]) => runInProcess(addCommand, channels, { env: { ...env, DATA_DIR: dataDir } });
const channels = () => readFile(join(dataDir, 'catalog', 'channels.ndjson'), 'utf8');

describe('pennant add', () => {
  it('stores a channel with its images, which a service without other sources then serves', async () => {
    const online = await startTestApp({ env });
    const record = (await online.get(`/api/channel/${ID}`)).json<Record<string, unknown>>();
    await online.close();
    expect(await add(ID)).toEqual({
      exitCode: 0,
      stdout: `Added ${ID} (${record.title}) to ${join(dataDir, 'catalog')}.\nThe folder is new: restart the service.\n`,
      stderr: '',
    });
    await upstream.close();
    const offline = await startTestApp({ dataDir, env: { SOURCES: 'catalog' } });
    try {
      const kept = (await offline.get(`/api/channel/${ID}`)).json<Record<string, unknown>>();
      expect({ ...kept, publishedAt: null }).toEqual({ ...record, publishedAt: null });
      for (const variant of ['tv', 'avatar']) {
        const { bytes } = await offline.get(`/${ID}/${variant}.png?width=32`);
        expect(await decodeImage(bytes)).toMatchObject({ format: 'png', width: 32 });
      }
    } finally {
      await offline.close();
    }
  });

  it('replaces the line of the channel, and keeps all others as they are', async () => {
    const others = ['{"channelId":"UCmyOwnChannel0000000001","title":"First"}', '', '  { "not yet": "finished" }'];
    const former = `{"channelId":"${ID}","title":"Former"}`;
    await writeCatalog(dataDir, [...others, former, 'last']);
    expect((await add('@BellRockLight')).exitCode).toBe(0);
    const lines = (await channels()).split('\n');
    expect(lines.toSpliced(3, 1)).toEqual([...others, 'last', '']);
    expect(JSON.parse(lines[3] ?? '')).toMatchObject({ channelId: ID, customUrl: '@BellRockLight' });
    expect((await readdir(join(dataDir, 'catalog'))).sort()).toEqual(['channels.ndjson', 'images']);
  });

  it('adds the other channels when one cannot be loaded', async () => {
    const { exitCode, stdout, stderr } = await add('@BellRockLight', '@nobodyhere', 'UCreplayHarbour000000002');
    expect([exitCode, stdout.match(/^Added \S+/gm)]).toEqual([1, [`Added ${ID}`, 'Added UCreplayHarbour000000002']]);
    expect(stderr).toMatch(/^@nobodyhere: .+$/m);
    expect((await channels()).trimEnd().split('\n')).toHaveLength(2);
  });

  it('adds nothing when a source or an image host fails, or there is no such channel', async () => {
    upstream.misbehave('image', respondWithStatus(503));
    const failed = await add(ID);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('503') });
    upstream.behave();
    const missing = await add('@nobodyhere');
    expect(missing).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^@nobodyhere: .+\n$/) });
    await expect(channels()).rejects.toThrow('ENOENT');
  });

  it('reports which parts are missing, and stores the rest', async () => {
    upstream.misbehave('about', respondWithStatus(503));
    upstream.misbehave('image', respondWithStatus(404));
    const { exitCode, stdout, stderr } = await add(ID);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^Added \S+ \(.+\) to .+\n/)]);
    expect(stderr).toMatch(
      /^Missing: .*country.*, banner, avatar\. A request failed, .*\. Run the command again later\.\n$/,
    );
  });

  it('needs a source besides the catalog', async () => {
    env = { SOURCES: 'catalog' };
    expect(await add(ID)).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('SOURCES') });
  });
});
