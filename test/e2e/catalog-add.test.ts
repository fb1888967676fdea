import { readdir } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogCommands } from '../../src/cli/catalog.ts';
import { startTestApp } from '../helpers/app.ts';
import { unread } from '../helpers/catalog.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { type ReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { runInProcess } from '../helpers/run-command.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

/* `catalog add`, with a replayed YouTube as the source. */

const ID = 'UCreplayLighthouse000001';

let upstream: ReplayServer;
let dataDir: string;
let env: Record<string, string>;
beforeEach(async () => {
  upstream = await startReplayForTest();
  dataDir = await createTemporaryDirectory();
  env = { ...youtubeSettings(upstream.origin), SOURCES: 'catalog,youtube' };
});

const catalog = (...args: string[]) => runInProcess(catalogCommands, args, { env: { ...env, DATA_DIR: dataDir } });
const add = (argument: string) => catalog('add', argument);

describe('catalog add', () => {
  it.each([
    ['added', ID],
    ['refused', 'UCabsent0000000000000001'],
  ])('leaves no temporary file when the channel is %s', async (_what, channelId) => {
    const temporary = await createTemporaryDirectory();
    // Node reads TMPDIR, and TEMP on Windows.
    for (const name of ['TMPDIR', 'TEMP']) vi.stubEnv(name, temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await add(channelId);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('stores a channel with its images, which a service without other sources then serves', async () => {
    const online = await startTestApp({ env });
    const record = (await online.get(`/api/channel/${ID}`)).json<Record<string, unknown>>();
    await online.close();
    expect(await add(ID)).toEqual({
      exitCode: 0,
      stdout: `Added ${ID} (${record.title}) with banner and avatar.\n`,
      stderr: unread(dataDir),
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

  it('replaces a stored channel, and keeps its user name', async () => {
    const shown = async () => JSON.parse((await catalog('show', ID)).stdout);
    expect((await add('https://www.youtube.com/user/bellrock')).exitCode).toBe(0);
    expect(await shown()).toMatchObject({ username: 'bellrock' });
    const replaced = await add('@BellRockLight');
    expect([replaced.exitCode, replaced.stdout]).toEqual([0, expect.stringMatching(`^Replaced ${ID} `)]);
    expect(await shown()).toMatchObject({ username: 'bellrock', customUrl: '@BellRockLight' });
  });

  it('adds nothing when a source or an image host fails, or there is no such channel', async () => {
    upstream.misbehave('image', respondWithStatus(503));
    const failed = await add(ID);
    expect(failed).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('503') });
    upstream.behave();
    const missing = await add('@nobodyhere');
    expect(missing).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^@nobodyhere: .+\n$/) });
    const list = await catalog('list');
    expect(list.stdout).toBe('');
  });

  it('reports which parts are missing, and stores the rest', async () => {
    upstream.misbehave('about', respondWithStatus(503));
    upstream.misbehave('image', respondWithStatus(404));
    const { exitCode, stdout, stderr } = await add(ID);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^Added \S+ \(.+\)\.\n$/)]);
    expect(stderr.replace(unread(dataDir), '')).toMatch(
      /^Missing, because a request failed: .*country.*, banner, avatar\. Run the command again later\.\n$/,
    );
  });

  it('needs a source besides the catalog', async () => {
    env = { SOURCES: 'catalog' };
    expect(await add(ID)).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('SOURCES') });
  });
});
