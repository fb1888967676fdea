import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startForTest } from '../../test/helpers/app.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { findRefusingOrigin, startFakeUpstream } from '../../test/helpers/fake-upstream.ts';
import { decodeImage } from '../../test/helpers/image.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { libraryCommand } from './library.ts';

const SAMPLE = 'UCPennantSample00000001A';
const WITHOUT_BANNER = 'UCPennantSample00000003A';

let library: string;
beforeEach(async () => {
  library = await createTemporaryDirectory();
});

const run = (instance: string, ...options: readonly string[]) =>
  runInProcess(libraryCommand, [library, '--instance', instance, ...options]);

async function startInstance(): Promise<string> {
  return `http://127.0.0.1:${await (await startForTest()).listen()}`;
}

/** An instance that has this for each identifier of a batch. */
async function startBatches(resultOf: (identifier: string) => object) {
  const upstream = await startFakeUpstream((request, response) => {
    const ids = new URL(request.url ?? '', 'http://a').searchParams.get('ids')?.split(',') ?? [];
    const results = ids.map((identifier) => ({ identifier, ...resultOf(identifier) }));
    response.end(JSON.stringify({ results }));
  });
  onTestFinished(() => upstream.close());
  return upstream;
}

function recordOf(channelId: string, title = `Channel ${channelId}`) {
  return {
    channel: { channelId, title, description: null, publishedAt: null, bannerUrl: null, avatarUrl: 'http://a' },
  };
}

/** A folder with the files that yt-dlp writes for videos of these channels. */
async function addVideos(name: string, ...channels: readonly (string | null)[]): Promise<string> {
  const season = join(library, name, 'Season 2026');
  await mkdir(season, { recursive: true });
  for (const [index, channel_id] of channels.entries()) {
    await writeFile(join(season, `${index}.info.json`), JSON.stringify({ id: `video${index}`, channel_id }));
  }
  return join(library, name);
}

/** The texts of tvshow.nfo by tag, those of images by aspect. */
async function readNfo(folder: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(folder, 'tvshow.nfo'), 'utf8');
  const elements = text.matchAll(/<(\w+)(?: (?:aspect="(\w+)"|[^>]*))?>([^<]*)(?=<)/g);
  return Object.fromEntries(
    [...elements].map(([, tag = '', aspect, value = '']) => [aspect ?? tag, value.replaceAll('&amp;', '&')]),
  );
}

async function sizeOf(url = ''): Promise<readonly number[]> {
  const { width, height } = await decodeImage(Buffer.from(await (await fetch(url)).arrayBuffer()));
  return [width, height];
}

describe('a library', () => {
  test('gets a file for each folder, whose images exist; a second run writes the same', async () => {
    const instance = await startInstance();
    const videos = await addVideos('From videos', null, SAMPLE);
    const named = await addVideos(`Saltmarrow [${WITHOUT_BANNER}]`);
    await mkdir(join(library, '.hidden'));
    expect(await run(instance)).toEqual({
      exitCode: 0,
      stdout: `${videos}/tvshow.nfo: written\n${named}/tvshow.nfo: written\n`,
      stderr: '',
    });
    const { poster, landscape, banner, thumb, ...texts } = await readNfo(videos);
    expect(texts).toMatchObject({ title: 'Pennant Sample', premiered: '2014-05-17', uniqueid: SAMPLE });
    expect(await sizeOf(poster)).toEqual([800, 1200]);
    expect(await sizeOf(landscape)).toEqual([1000, 563]);
    expect(await sizeOf(banner)).toEqual([1000, 185]);
    expect(await sizeOf(thumb)).toEqual([1920, 1080]);
    expect(await readNfo(named)).toMatchObject({ uniqueid: WITHOUT_BANNER });
    const before = await readFile(join(videos, 'tvshow.nfo'), 'utf8');
    expect(await run(instance)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readFile(join(videos, 'tvshow.nfo'), 'utf8')).toBe(before);
  });

  test('asks for ten channels at a time, as many as one request loads, and says which cannot be loaded', async () => {
    const error = { code: 'upstream_unavailable', detail: 'Ask again.' };
    const ids = Array.from({ length: 11 }, (_, index) => numberedChannelId(index));
    const { origin, requests } = await startBatches((identifier) =>
      identifier === ids[4] ? { error } : recordOf(identifier),
    );
    for (const [index, id] of ids.entries()) await addVideos(`Channel ${index + 10}`, id);
    const { exitCode, stdout, stderr } = await run(origin);
    expect([exitCode, stderr]).toEqual([1, `${join(library, 'Channel 14')}: Ask again.\n`]);
    expect(stdout.match(/written/g)).toHaveLength(10);
    expect(requests).toEqual([ids.slice(0, 10), ids.slice(10)].map((batch) => `/api/channels?ids=${batch.join(',')}`));
  });

  test('waits when the rate limit is reached', async () => {
    let requests = 0;
    const { origin, close } = await startFakeUpstream((_request, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(429, { 'retry-after': '0' }).end('{"detail":"Too many requests."}');
      else response.end(JSON.stringify({ results: [{ identifier: SAMPLE, ...recordOf(SAMPLE) }] }));
    });
    onTestFinished(() => close());
    await addVideos('Show', SAMPLE);
    expect(await run(origin)).toMatchObject({ exitCode: 0, stderr: 'The rate limit is reached. Waiting 0 s.\n' });
  });
});

test('all files that can be written are written; standard error says why others are missing', async () => {
  const good = await addVideos('Good', SAMPLE);
  const nothing = await addVideos('Nothing', null);
  const foreign = await addVideos('Of another program', SAMPLE);
  const unknown = await addVideos('Unknown', 'UCnobodyhasthisone000000');
  await writeFile(join(foreign, 'tvshow.nfo'), '<tvshow><title>x</title></tvshow>');
  const { exitCode, stdout, stderr } = await run(await startInstance());
  expect([exitCode, stdout]).toEqual([1, `${good}/tvshow.nfo: written\n`]);
  expect(stderr.trim().split('\n')).toEqual([
    `${nothing}: No channel ID or @handle is known: use --channel.`,
    `${foreign}: tvshow.nfo is of another program, and is not changed.`,
    `${unknown}: There is no channel with the ID "UCnobodyhasthisone000000".`,
  ]);
  expect(await readFile(join(foreign, 'tvshow.nfo'), 'utf8')).toBe('<tvshow><title>x</title></tvshow>');
});

test('the XML is valid, whatever a channel is called', async () => {
  const { origin } = await startBatches((identifier) => recordOf(identifier, '<A> & "B" ]]> \u0007\ufffe 😀'));
  const folder = await addVideos('Show', SAMPLE);
  expect(await run(origin)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readNfo(folder)).toMatchObject({ uniqueid: SAMPLE });
  const text = await readFile(join(folder, 'tvshow.nfo'), 'utf8');
  expect(text).toContain('<title>&lt;A&gt; &amp; "B" ]]&gt;  😀</title>');
});

test('the folder of one channel is no library', async () => {
  await writeFile(join(library, 'tvshow.nfo'), '<tvshow/>');
  expect(await run('http://127.0.0.1:9')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is the folder of one channel'),
  });
  await rm(join(library, 'tvshow.nfo'));
  expect(await run(await startInstance(), '--channel', '@pennantsample')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readNfo(library)).toMatchObject({ title: 'Pennant Sample' });
});

test('an instance that cannot be reached and an empty library are failures', async () => {
  expect(await run('http://127.0.0.1:9')).toMatchObject({ exitCode: 1, stderr: `${library} has no channels.\n` });
  await addVideos('Show', SAMPLE);
  const origin = await findRefusingOrigin();
  expect(await run(origin)).toMatchObject({ exitCode: 1, stderr: `No instance responds at ${origin}.\n` });
});

test('an instance without a scheme is a usage error', async () => {
  const stderr = expect.stringContaining('--instance is a URL');
  expect(await run('localhost:8080')).toMatchObject({ exitCode: 2, stderr });
});
