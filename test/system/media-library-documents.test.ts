import { chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { blockWith, readDocument } from '../helpers/documents.ts';
import { isInstalled } from '../helpers/installed.ts';
import { addVideos, LIBRARY_SCRIPT, readNfo, runProgram } from '../helpers/media-library.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* What docs/media-libraries.md runs with deploy/media-library.py. */

const DOCUMENT = 'docs/media-libraries.md';
const SAMPLE = 'UCPennantSample00000001A';

const hasPython = isInstalled('python3', 'deploy/media-library.py');
const hasJq = isInstalled('jq', 'the script for Pinchflat in docs/media-libraries.md');

let directory: string;
let library: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  library = join(directory, 'library');
  await mkdir(library);
});

async function startInstance(): Promise<{ base: string }> {
  const service = await startForTest();
  return { base: `http://127.0.0.1:${await service.listen()}` };
}

describe.skipIf(!hasPython)('docs/media-libraries.md', () => {
  /** The block with the address of this instance, and with this library. */
  async function followed(text: string, base: string): Promise<string> {
    await cp(LIBRARY_SCRIPT, join(directory, 'media-library.py'));
    const { blocks } = readDocument(DOCUMENT);
    const whole = blocks.find((block) => block.text.endsWith(text))?.text ?? blockWith(DOCUMENT, text);
    return whole
      .replaceAll('http://localhost:8080', base)
      .replaceAll('/media/youtube', library)
      .replaceAll('/config/extras/media-library.py', join(directory, 'media-library.py'));
  }

  test('shows the file that is written', async () => {
    const { base } = await startInstance();
    await addVideos(library, 'Pennant Sample', SAMPLE);
    const ended = await runProgram(
      'sh',
      ['-euc', await followed('media-library.py http://localhost:8080 /media/youtube', base)],
      directory,
    );
    expect(ended).toMatchObject({ exitCode: 0, stdout: `${library}/Pennant Sample/tvshow.nfo: written\n` });
    const shown = blockWith(DOCUMENT, '<tvshow>').replaceAll('http://localhost:8080', base);
    const written = await readFile(join(library, 'Pennant Sample', 'tvshow.nfo'), 'utf8');
    const withoutPlot = (text: string) => text.replace(/<plot>[^<]*<\/plot>/, '').trim();
    expect(withoutPlot(written.replace(/^<\?xml.*\n/, ''))).toBe(withoutPlot(shown));
  });

  test('has a file of names that works, and the command for one folder', async () => {
    const { base } = await startInstance();
    const named = await runProgram('sh', ['-euc', await followed('--names channels.txt', base)], directory);
    expect(named).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await readdir(library)).toSorted()).toEqual(['Pennant Sample', 'Saltmarrow Kitchen']);
    const one = await runProgram(
      'sh',
      ['-euc', await followed("'/media/youtube/Pennant Sample' --channel", base)],
      directory,
    );
    expect(one).toMatchObject({ exitCode: 0, stdout: `${library}/Pennant Sample/tvshow.nfo: unchanged\n` });
  });

  test('has a command for yt-dlp that writes the file of the video’s folder', async () => {
    const { base } = await startInstance();
    const folder = await addVideos(library, 'It’s "one" $HOME', null);
    const [, template = ''] = /--exec '([^']*)'/.exec(await followed('--exec', base)) ?? [];
    // As yt-dlp fills the template: %()q quotes for the shell.
    const quote = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`;
    const command = template
      .replace('%(filepath)q', quote(join(folder, "It's.mp4")))
      .replace('%(channel_id)q', quote(SAMPLE));
    expect(command).not.toContain('%(');
    expect(await runProgram('sh', ['-c', command], directory)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await readNfo(folder)).toMatchObject({ title: 'Pennant Sample' });
  });

  test.skipIf(!hasJq)('has a script for Pinchflat that writes the file of the source’s folder', async () => {
    const { base } = await startInstance();
    const lifecycle = join(directory, 'lifecycle');
    await writeFile(lifecycle, await followed('media_downloaded', base));
    await chmod(lifecycle, 0o755);
    const folder = join(library, 'Pennant "Sample"');
    const call = (event: string, source: object) => {
      const data = { title: 'It\'s "one" $HOME', media_filepath: `${folder}/a.mp4`, source };
      return runProgram(lifecycle, [event, JSON.stringify(data)], directory);
    };
    const source = { collection_type: 'channel', collection_id: SAMPLE, series_directory: folder };
    expect(await call('media_deleted', source)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await call('media_downloaded', { ...source, collection_type: 'playlist' })).toMatchObject({ stdout: '' });
    expect(await readdir(library)).toEqual([]);
    expect((await call('media_downloaded', source)).stdout).toBe(`${folder}/tvshow.nfo: written\n`);
    const again = await call('media_downloaded', { ...source, series_directory: null });
    expect(again.stdout).toBe(`${folder}/tvshow.nfo: unchanged\n`);
  });
});
