import { beforeEach, expect, it } from 'vitest';
import { pngOf } from '../../test/helpers/catalog.ts';
import { KEY, respondAsDataApi } from '../../test/helpers/data-api.ts';
import { respondWithStatus } from '../../test/helpers/fake-upstream.ts';
import { OWN_RESPONSES, readResponses } from '../../test/helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../../test/helpers/replay-server.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';
import type { Diagnosis } from './doctor/diagnose.ts';
import { doctorCommand } from './doctor.ts';

const EXPECTED = ['--expect', 'banner,country,links'];
/** Has no banner, no country and no links. */
const QUIET = 'UCreplayQuiet00000000007';

let replay: ReplayServer;
let renamed: readonly [string, string];
beforeEach(async () => {
  renamed = ['', ''];
  const responses = readResponses(OWN_RESPONSES).map((response) => ({
    ...response,
    get text() {
      return response.text.replaceAll(...renamed);
    },
  }));
  const image = respondWithStatus(200, { 'content-type': 'image/png' }, pngOf('of a channel'));
  const dataApi = respondAsDataApi([
    { id: 'UCreplayLighthouse000001', snippet: { title: 'Bell Rock Light', customUrl: '@bellrocklight' } },
  ]);
  replay = await startReplayForTest({ responses, dataApi, hasAboutPages: true, image });
});

function doctor(...args: string[]) {
  return runInProcess(doctorCommand, args, { env: { ...youtubeSettings(replay.origin), YOUTUBE_API_KEY: KEY } });
}

it('prints one line for a channel that has every expected field', async () => {
  expect(await doctor('@BellRockLight', ...EXPECTED)).toMatchObject({
    exitCode: 0,
    stdout: '@BellRockLight: All fields are where they are expected.\n',
    stderr: '',
  });
});

it.each([
  ['banner', 'imageBannerViewModel'],
  ['country', 'country"'],
  ['links', 'links"'],
])('misses %s when YouTube renames it, which passes as absent without the option', async (field, name) => {
  renamed = [name, `renamed${name}`];
  const unexpected = await doctor('@BellRockLight', '--json');
  expect([unexpected.exitCode, (JSON.parse(unexpected.stdout) as Diagnosis).isFine]).toEqual([0, true]);
  const { exitCode, stdout } = await doctor('@BellRockLight', ...EXPECTED);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(new RegExp(`^@BellRockLight: Not as expected: ${field} \\(missing: expected.*\\)\\.\\n$`));
});

it('misses every expected field that the channel lacks, also as JSON', async () => {
  const { exitCode, stdout } = await doctor(QUIET, ...EXPECTED, '--json');
  const { isFine, fields } = JSON.parse(stdout) as Diagnosis;
  const missing = fields.filter(({ state }) => state === 'missing').map(({ field }) => field);
  expect([exitCode, isFine, missing]).toEqual([1, false, ['country', 'links', 'banner']]);
});

it('misses a field that the source never has', async () => {
  const { exitCode, stdout } = await doctor(
    '@BellRockLight',
    '--source',
    'youtube-data-api',
    '--expect',
    'title,links',
  );
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('links (missing: expected; ')]);
});

it('says in the line that searches fail, and why there is no record', async () => {
  replay.misbehave('search', respondWithStatus(501));
  const search = await doctor('@BellRockLight', ...EXPECTED);
  expect([search.exitCode, search.stdout]).toEqual([
    1,
    expect.stringMatching(/: search \(missing: .*status 501.*\)\.\n$/),
  ]);
  replay.misbehave('all', respondWithStatus(429));
  const nothing = await doctor('@BellRockLight', ...EXPECTED);
  expect(nothing.exitCode).toBe(1);
  expect(nothing.stdout).toMatch(/^@BellRockLight: upstream_unavailable: .*status 429.*\n$/);
});

it.each(['crown', 'banner,', ''])('refuses the field names "%s"', async (names) => {
  const { exitCode, stderr } = await doctor('@BellRockLight', '--expect', names);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('is not a field. Fields: channelId, title')]);
  expect(replay.calls).toEqual([]);
});
