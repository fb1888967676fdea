import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { catalogLine, importLines, writeImages } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { findRefusingOrigin, startFakeUpstream } from '../helpers/fake-upstream.ts';
import { decodeImage } from '../helpers/image.ts';
import { isInstalled } from '../helpers/installed.ts';
import { addVideos, LIBRARY_SCRIPT, readNfo, runProgram } from '../helpers/media-library.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* deploy/media-library.py with a real service. */

const SAMPLE = 'UCPennantSample00000001A';

const hasPython = isInstalled('python3', 'deploy/media-library.py');

let directory: string;
let library: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  library = join(directory, 'library');
  await mkdir(library);
});

const runScript = (...args: readonly string[]) => runProgram('python3', [LIBRARY_SCRIPT, ...args], directory);

async function startInstance(env: Record<string, string> = {}, dataDir?: string): Promise<{ base: string }> {
  const service = await startForTest({ env, ...(dataDir !== undefined && { dataDir }) });
  return { base: `http://127.0.0.1:${await service.listen()}` };
}

/** An instance that has this for each identifier of a batch. @returns also the URLs that it was asked for */
async function startBatches(resultOf: (identifier: string, request: number) => object) {
  const upstream = await startFakeUpstream((request, response) => {
    const ids = new URL(request.url ?? '', 'http://a').searchParams.get('ids')?.split(',') ?? [];
    const results = ids.map((identifier) => ({ identifier, ...resultOf(identifier, upstream.requests.length) }));
    response.end(JSON.stringify({ results }));
  });
  onTestFinished(() => upstream.close());
  return { origin: upstream.origin, asked: upstream.requests };
}

async function load(url = '') {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  return decodeImage(Buffer.from(await response.arrayBuffer()));
}

async function sizeOf(url = ''): Promise<number[]> {
  const { width, height } = await load(url);
  return [width, height];
}

const BLUE = '1e3c78';

/** An instance with ten own channels: the odd ones have a blue avatar with a white disc, the even ones no image at all. */
async function startWithTenChannels(): Promise<{ base: string }> {
  const disc = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="300" height="300" fill="#${BLUE}"/><circle cx="150" cy="150" r="90" fill="#fff"/></svg>`,
  );
  const avatar = await sharp(disc).png().toBuffer();
  const banner = await sharp({ create: { width: 1280, height: 720, channels: 3, background: '#804020' } })
    .jpeg()
    .toBuffer();
  const images = await writeImages(directory, { 'avatar.png': avatar, 'banner.jpg': banner });
  const lines = Array.from({ length: 10 }, (_, at) =>
    catalogLine(at, {
      description: `Channel <${at}> & "co"`,
      publishedAt: '2014-05-17T09:30:00Z',
      ...(at % 2 === 1 && { avatarFile: 'avatar.png', bannerFile: 'banner.jpg' }),
    }),
  );
  const dataDir = join(directory, 'data');
  await importLines(dataDir, lines, images);
  return startInstance({ SAMPLE_CATALOG: 'off' }, dataDir);
}

describe.skipIf(!hasPython)('a library', () => {
  test('of ten folders gets ten files, whose images exist, and a second run changes nothing', async () => {
    const { base } = await startWithTenChannels();
    const folders = [];
    for (let at = 0; at < 10; at += 1)
      folders.push(await addVideos(library, `Channel ${at}`, numberedChannelId(at), null));
    await mkdir(join(library, '.hidden'));
    const first = await runScript(base, library);
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout.trim().split('\n')).toEqual(folders.map((folder) => `${folder}/tvshow.nfo: written`));
    for (const [at, folder] of folders.entries()) {
      const { poster, landscape, banner, fanart, ...texts } = await readNfo(folder);
      expect(texts).toEqual({
        title: `Channel ${at}`,
        plot: `Channel <${at}> & "co"`,
        premiered: '2014-05-17',
        uniqueid: numberedChannelId(at),
      });
      if (at % 2 === 0) {
        expect([poster, landscape, banner, fanart]).toEqual([undefined, undefined, undefined, undefined]);
        continue;
      }
      expect(poster).toContain(`background=${BLUE}`);
      expect(await sizeOf(poster)).toEqual([800, 1200]);
      expect(await sizeOf(landscape)).toEqual([1000, 563]);
      expect(await sizeOf(banner)).toEqual([1000, 185]);
      expect(await sizeOf(fanart)).toEqual([1280, 720]);
    }
    const writtenMs = (await stat(join(folders[1] ?? '', 'tvshow.nfo'))).mtimeMs;
    const second = await runScript(base, library);
    expect(second).toEqual({ ...first, stdout: first.stdout.replaceAll(': written', ': unchanged') });
    expect((await stat(join(folders[1] ?? '', 'tvshow.nfo'))).mtimeMs).toBe(writtenMs);
  });

  test('has posters without visible bars where the avatar’s edge has one color', async () => {
    const { base } = await startWithTenChannels();
    const folder = await addVideos(library, 'One', numberedChannelId(1));
    await runScript(base, library);
    const poster = await load((await readNfo(folder)).poster ?? '');
    const blue = [0x1e, 0x3c, 0x78];
    for (const y of [0.01, 0.15, 0.2, 0.85, 0.99]) {
      const difference = poster.colourAt(0.02, y).map((value, at) => Math.abs(value - (blue[at] ?? 0)));
      expect([y, Math.max(...difference) < 8]).toEqual([y, true]);
    }
    expect(Math.min(...poster.colourAt(0.5, 0.5))).toBeGreaterThan(240);
  });

  test('of fifty channels takes one request if the posters have a given color', async () => {
    const { origin, asked } = await startBatches((identifier) => ({ channel: recordOf(identifier) }));
    const names = Array.from({ length: 50 }, (_, at) => numberedChannelId(at));
    await writeFile(join(directory, 'names.txt'), names.join('\n'));
    const args = ['--names', join(directory, 'names.txt'), '--background', '000000', origin, library];
    expect(await runScript(...args)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(asked).toEqual([`/api/channels?ids=${names.join(',')}`]);
    expect(await readdir(library)).toHaveLength(50);
  });

  test('is asked again for the channels that one request did not load, and says which cannot be loaded', async () => {
    const error = { status: 503, code: 'upstream_unavailable', detail: 'Ask again.' };
    const { origin, asked } = await startBatches((identifier, request) =>
      request < 3 && Number(identifier.slice(2)) < 2 * request ? { channel: recordOf(identifier) } : { error },
    );
    for (let at = 0; at < 5; at += 1) await addVideos(library, `Channel ${at}`, numberedChannelId(at));
    const ended = await runScript('--background', '000000', origin, library);
    expect([ended.exitCode, asked.length]).toEqual([1, 3]);
    expect(ended.stdout.match(/written/g)).toHaveLength(4);
    expect(ended.stderr).toBe(`${join(library, 'Channel 4')}: Ask again.\n`);
  });
});

function recordOf(channelId: string, fields: object = {}) {
  const images = { bannerUrl: null, avatarUrl: 'http://a/avatar' };
  return { channelId, title: `Channel ${channelId}`, description: null, publishedAt: null, ...images, ...fields };
}

describe.skipIf(!hasPython)('the script', () => {
  test('waits when the rate limit is reached', async () => {
    let requests = 0;
    const upstream = await startFakeUpstream((_request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(429, { 'retry-after': '1' }).end('{}');
      else response.end(JSON.stringify({ results: [{ identifier: SAMPLE, channel: recordOf(SAMPLE) }] }));
    });
    onTestFinished(() => upstream.close());
    const folder = await addVideos(library, 'Show', SAMPLE);
    const ended = await runScript('--background', '000000', upstream.origin, library);
    expect(ended).toEqual({
      exitCode: 0,
      stdout: `${folder}/tvshow.nfo: written\n`,
      stderr: 'The rate limit is reached: waiting 1 s.\n',
    });
  });

  test('writes all files that it can, says why others are missing, and ends with 1', async () => {
    const { base } = await startInstance();
    const good = await addVideos(library, 'Good', SAMPLE);
    await addVideos(library, 'Mixed', SAMPLE, 'UCPennantSample00000003A');
    await addVideos(library, 'Nothing', null);
    await addVideos(library, 'Unknown', 'UCnobodyhasthisone000000');
    await writeFile(join(await addVideos(library, 'Broken', SAMPLE), 'tvshow.nfo'), '<tvshow><title>x</tvshow>');
    const { exitCode, stdout, stderr } = await runScript(base, library);
    expect([exitCode, stdout]).toEqual([1, `${good}/tvshow.nfo: written\n`]);
    expect(stderr.trim().split('\n').toSorted()).toEqual([
      expect.stringMatching(/Broken: tvshow\.nfo is not XML \(.+\), and is not changed$/),
      expect.stringMatching(/Mixed: has videos of UCPennantSample00000001A and UCPennantSample00000003A: choose one/),
      expect.stringMatching(/Nothing: has no \.info\.json file that names a channel/),
      expect.stringMatching(/Unknown: There is no channel with the ID "UCnobodyhasthisone000000"\.$/),
    ]);
    expect(await readFile(join(library, 'Broken', 'tvshow.nfo'), 'utf8')).toBe('<tvshow><title>x</tvshow>');
  });

  test('keeps what is not its own in an existing file, and finds the channel there', async () => {
    const { base } = await startInstance();
    const folder = await addVideos(library, 'Show', null);
    const before = [
      '<?xml version="1.0" encoding="UTF-8"?><!-- head --><tvshow><!-- mine --><title>My name</title><genre>Kids</genre>',
      `<plot>old</plot><uniqueid type="tvdb" default="true">5</uniqueid><uniqueid type="youtube">${SAMPLE}</uniqueid>`,
      '<thumb aspect="clearlogo">http://a/logo.png</thumb><thumb aspect="poster">http://a/old.jpg</thumb></tvshow>',
    ].join('');
    await writeFile(join(folder, 'tvshow.nfo'), before);
    expect(await runScript(base, library)).toMatchObject({ exitCode: 0, stderr: '' });
    const nfo = await readNfo(folder);
    expect(nfo).toMatchObject({ title: 'My name', genre: 'Kids', clearlogo: 'http://a/logo.png', uniqueid: SAMPLE });
    expect(nfo.plot).toContain('One channel with everything');
    expect(nfo.poster).toContain(`${base}/${SAMPLE}/avatar.jpg`);
    const text = await readFile(join(folder, 'tvshow.nfo'), 'utf8');
    expect(text).toContain('<!-- mine -->');
    expect(text.match(/default="true"/g)).toHaveLength(1);
    expect(text.match(/aspect="poster"/g)).toHaveLength(1);
  });

  test('writes XML into a folder of the library, whatever a channel is called', async () => {
    const titles = ['../../outside', '<A> & "B" \u0007\uFFFE 😀', 'a/b\\c', '..', ' . '];
    const { origin } = await startBatches((identifier) => ({
      channel: recordOf(identifier, { title: titles[Number(identifier.slice(2))] }),
    }));
    await writeFile(join(directory, 'names.txt'), titles.map((_, at) => numberedChannelId(at)).join('\n'));
    const args = ['--names', join(directory, 'names.txt'), '--background', '000000', origin, library];
    expect(await runScript(...args)).toMatchObject({ exitCode: 0, stderr: '' });
    const folders = await readdir(library);
    expect(folders.toSorted()).toEqual(
      [numberedChannelId(3), numberedChannelId(4), 'a b c', ' A  &  B   \uFFFE 😀', 'outside']
        .map((name) => name.trim())
        .toSorted(),
    );
    for (const folder of folders) await readNfo(join(library, folder));
    expect(await readdir(directory)).not.toContain('outside');
  });

  test('reads names with and without folders, and refuses lines that name no channel', async () => {
    const { base } = await startInstance();
    const names = '\uFEFF# comment\n\n@pennantsample\tMy folder\nUCPennantSample00000003A\nnobody at all\r\n';
    await writeFile(join(directory, 'names.txt'), names);
    const { exitCode, stderr } = await runScript(base, library, '--names', join(directory, 'names.txt'));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('"nobody" is neither a channel ID')]);
    expect((await readdir(library)).toSorted()).toEqual(['My folder', 'Saltmarrow Kitchen']);
  });

  test('does not take the folder of one channel for a library', async () => {
    const folder = await addVideos(library, 'Show', SAMPLE);
    await writeFile(join(folder, 'tvshow.nfo'), '<tvshow/>');
    const { exitCode, stderr } = await runScript('http://127.0.0.1:9', folder);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is the folder of one channel')]);
    expect(await readdir(join(folder, 'Season 2026'))).toEqual(['video 0.info.json']);
  });

  test('says that the instance cannot be reached, and that there is nothing to do', async () => {
    const nothing = await runScript('http://127.0.0.1:9', library);
    expect(nothing).toEqual({ exitCode: 1, stdout: '', stderr: `${library} has no channels\n` });
    await addVideos(library, 'Show', SAMPLE);
    const { exitCode, stderr } = await runScript(await findRefusingOrigin(), library);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('refused')]);
  });

  test.each([
    [[], 'the following arguments are required'],
    [['localhost:8080', '.'], 'INSTANCE is a URL'],
    [['http://localhost:8080', '/nowhere'], 'is no folder'],
    [['http://localhost:8080', '.', '--names', '/nowhere'], 'is no file'],
    [['http://localhost:8080', '.', '--background', 'red'], 'six hexadecimal digits'],
    [['http://localhost:8080', '.', '--names', 'a', '--channel', '@b'], 'not allowed with'],
  ])('ends with 2 and its usage for the arguments %j', async (args, reason) => {
    const { exitCode, stdout, stderr } = await runScript(...args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('usage: media-library.py');
    expect(stderr).toContain(reason);
  });
});
