import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pngOf } from '../../test/helpers/catalog.ts';
import { KEY, respondAsDataApi, respondWithDataApiError } from '../../test/helpers/data-api.ts';
import {
  FAULTS,
  redirectTo,
  respondWithHtml,
  respondWithJson,
  respondWithStatus,
} from '../../test/helpers/fake-upstream.ts';
import {
  jsonResponse,
  OWN_RESPONSES,
  type ReplayResponse,
  readResponses,
} from '../../test/helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../../test/helpers/replay-server.ts';
import { type RunOptions, runInProcess } from '../../test/helpers/run-command.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';
import type { Diagnosis } from './doctor/diagnose.ts';
import { doctorCommand } from './doctor.ts';

/** What `doctor --json` writes. */
interface DoctorReport extends Omit<Diagnosis, 'calls'> {
  readonly calls: readonly { name: string; status: number | null; bytes: number | null; form: string | null }[];
}

const LIGHTHOUSE = 'UCreplayLighthouse000001';

const API_CHANNEL = {
  id: LIGHTHOUSE,
  snippet: {
    title: 'Bell Rock Light',
    description: 'Light.',
    customUrl: '@bellrocklight',
    publishedAt: '2011-02-01T06:30:15Z',
    country: 'GB',
    thumbnails: { high: { url: 'https://yt3.ggpht.com/lighthouse-avatar=s800' } },
  },
  statistics: { subscriberCount: '1130000', viewCount: '5', videoCount: '3' },
  brandingSettings: { image: { bannerExternalUrl: 'https://yt3.ggpht.com/lighthouse-banner' } },
};

/** A search whose items have an unknown kind. */
const UNREADABLE_SEARCH = {
  contents: {
    twoColumnSearchResultsRenderer: {
      primaryContents: { sectionListRenderer: { contents: [{ itemSectionRenderer: { contents: [{ crown: {} }] } }] } },
    },
  },
};

let replay: ReplayServer;

/** `changed` responses replace the test's own responses to the same requests. */
async function startUpstream(changed: readonly ReplayResponse[] = []): Promise<void> {
  replay = await startReplayForTest({
    responses: [...changed, ...readResponses(OWN_RESPONSES)],
    dataApi: respondAsDataApi([API_CHANNEL]),
    hasAboutPages: true,
    image: respondWithStatus(200, { 'content-type': 'image/png' }, pngOf('of a channel')),
  });
}

function doctor(args: readonly string[], { env = { YOUTUBE_API_KEY: KEY }, ...options }: RunOptions = {}) {
  return runInProcess(doctorCommand, args, { ...options, env: { ...youtubeSettings(replay.origin), ...env } });
}

async function report(...args: string[]): Promise<DoctorReport & { exitCode: unknown }> {
  const { exitCode, stdout } = await doctor([...args, '--json']);
  return { exitCode, ...(JSON.parse(stdout) as DoctorReport) };
}

function stateOf({ fields }: DoctorReport, field: string): string | undefined {
  return fields.find((finding) => finding.field === field)?.state;
}

/** The lighthouse's page or panel with some texts replaced. */
function changedResponse(kind: 'page' | 'panel', from: string, to: string): ReplayResponse {
  const response = readResponses(OWN_RESPONSES).find(
    ({ file }) => file === (kind === 'page' ? 'channel-page-lighthouse.json' : 'about-lighthouse.json'),
  );
  if (response === undefined || !response.text.includes(from)) throw new Error(`no "${from}" in the ${kind}`);
  return { ...response, text: response.text.replaceAll(from, to) };
}

describe('the doctor for a healthy channel', () => {
  it.each(['@BellRockLight', LIGHTHOUSE, 'bellrock', 'https://www.youtube.com/@BellRockLight'])(
    'finds everything for %s',
    async (asked) => {
      await startUpstream();
      const { exitCode, isFine, channelId, failure, fields, remarks } = await report(asked);
      expect([exitCode, isFine, channelId, failure, remarks]).toEqual([0, true, LIGHTHOUSE, null, []]);
      expect(fields.filter(({ state }) => state !== 'fine')).toEqual([]);
      expect(fields.map(({ field }) => field)).toHaveLength(16);
    },
  );

  it('shows each call with its response, and the path of each field', async () => {
    await startUpstream();
    const { calls, fields } = await report('@BellRockLight');
    expect(calls.map(({ name, status, form }) => [name, status, form]).sort()).toEqual([
      ['about', 200, 'json'],
      ['avatar image', 200, 'png'],
      ['banner image', 200, 'png'],
      ['feed', 200, 'xml'],
      ['page', 200, 'json'],
      ['resolve', 200, 'json'],
      ['search', 200, 'json'],
    ]);
    expect(fields.find(({ field }) => field === 'title')).toMatchObject({
      value: 'Bell Rock Light',
      path: 'page.metadata.channelMetadataRenderer.title',
    });
    expect(fields.find(({ field }) => field === 'publishedAt (feed)')?.value).toBe('2011-02-01T06:30:15Z');
  });

  it('prints a table, without colours when piped', async () => {
    await startUpstream();
    const piped = await doctor(['@BellRockLight']);
    const onTerminal = await doctor(['@BellRockLight'], { isTerminal: true });
    expect(piped.stdout).toMatch(/^viewCount +fine +312530935570 +about…/m);
    expect(piped.stdout).toBe(stripVTControlCharacters(piped.stdout));
    expect(onTerminal.stdout).not.toBe(stripVTControlCharacters(onTerminal.stdout));
  });

  it('accepts a channel without optional fields', async () => {
    await startUpstream();
    const { exitCode, ...found } = await report('UCreplayQuiet00000000007');
    expect([exitCode, found.remarks]).toEqual([0, []]);
    expect(['banner', 'country', 'subscriberCount', 'customUrl'].map((field) => stateOf(found, field))).toEqual(
      Array(4).fill('absent'),
    );
  });

  it.each([
    ['UCreplayDistillery000004', 'age-gated'],
    ['UCreplaySportsDay0000005', 'system channel'],
    ['UCreplayArcade0000000014', 'system channel'],
  ])('accepts a channel with a special layout, and names the layout: %s', async (channelId, kind) => {
    await startUpstream();
    const { exitCode, remarks } = await report(channelId);
    expect(exitCode).toBe(0);
    expect(remarks.join()).toContain(kind);
  });

  it('accepts a channel that YouTube generates, without date and views', async () => {
    const panel = changedResponse('panel', 'viewCountText', 'viewsText');
    await startUpstream([
      changedResponse('page', 'Bell Rock Light', 'Bell Rock - Topic'),
      { ...panel, text: panel.text.replace('joinedDateText', 'joinedText') },
    ]);
    const { exitCode, remarks } = await report(LIGHTHOUSE);
    expect(exitCode).toBe(0);
    expect(remarks.join()).toContain('generates');
  });

  it('reports the language of a page that is not in English', async () => {
    await startUpstream();
    const { remarks } = await report('UCreplayFener00000000016');
    expect(remarks.join()).toContain('(tr)');
  });

  it('accepts a feed that does not respond', async () => {
    await startUpstream();
    replay.misbehave('feed', respondWithStatus(500));
    const { exitCode, ...found } = await report(LIGHTHOUSE);
    expect([exitCode, stateOf(found, 'publishedAt (feed)')]).toEqual([0, 'absent']);
  });
});

describe('the doctor for a changed upstream', () => {
  it.each<[string, ReplayResponse[], Record<string, string>]>([
    ['a header whose parts are all renamed', [changedResponse('page', 'ViewModel', 'View')], { banner: 'missing' }],
    [
      'renamed metadata',
      [changedResponse('page', 'channelMetadataRenderer', 'channelDataRenderer')],
      { title: 'older', channelId: 'older', customUrl: 'older', avatar: 'older' },
    ],
    [
      'a renamed panel',
      [changedResponse('panel', 'aboutChannelViewModel', 'aboutPanelViewModel')],
      { viewCount: 'missing', country: 'missing', links: 'missing', videoCount: 'rounded' },
    ],
    ['an unknown country', [changedResponse('panel', 'United Kingdom', 'Freedonia')], { country: 'unreadable' }],
    ['a date in another form', [changedResponse('panel', 'Joined ', 'Since ')], { publishedAt: 'unreadable' }],
  ])('names the fields that are lost by %s', async (_what, changed, states) => {
    await startUpstream(changed);
    const { exitCode, isFine, ...found } = await report('@BellRockLight');
    expect([exitCode, isFine]).toEqual([1, false]);
    const drifted = found.fields.filter(({ state }) => state !== 'fine' && state !== 'absent');
    expect(Object.fromEntries(drifted.map(({ field, state }) => [field, state]))).toMatchObject(states);
    const { stdout } = await doctor(['@BellRockLight']);
    const verdict = stdout.trimEnd().split('\n').at(-1) ?? '';
    for (const field of Object.keys(states)) expect(verdict).toContain(field);
  });

  it('names an unknown header and a value that it cannot read', async () => {
    await startUpstream([changedResponse('page', 'pageHeaderRenderer', 'pageCrownRenderer')]);
    expect((await report(LIGHTHOUSE)).remarks.join()).toContain('pageCrownRenderer');
    await startUpstream([changedResponse('panel', 'United Kingdom', 'Freedonia')]);
    const { fields } = await report(LIGHTHOUSE);
    expect(fields.find(({ field }) => field === 'country')?.note).toContain('Freedonia');
  });

  it('shows the fields of a page that no longer gives a record', async () => {
    const page = { header: { crown: {} }, metadata: { channelDataRenderer: { title: 'x' } } };
    await startUpstream([jsonResponse('browse', { browseId: LIGHTHOUSE }, page)]);
    const found = await report(LIGHTHOUSE);
    expect([found.exitCode, found.failure?.code, stateOf(found, 'title')]).toEqual([1, 'upstream_invalid', 'missing']);
  });

  it('reports an image that is available in its second form only, or not at all', async () => {
    await startUpstream();
    replay.misbehave('image', respondWithStatus(403), 1);
    const second = await report('UCreplayQuiet00000000007');
    expect([second.exitCode, stateOf(second, 'avatar (original)')]).toEqual([1, 'older']);
    replay.misbehave('image', respondWithHtml());
    const none = await report('UCreplayQuiet00000000007');
    expect([none.exitCode, stateOf(none, 'avatar (original)')]).toEqual([1, 'missing']);
  });

  it.each([
    ['results in an unknown form', respondWithJson(UNREADABLE_SEARCH), 'unreadable', 'in an unknown form'],
    ['a refusal', respondWithStatus(429), 'missing', 'status 429'],
  ])('reports that searches fail: %s', async (_what, listener, state, reason) => {
    await startUpstream();
    replay.misbehave('search', listener);
    const { exitCode, ...found } = await report(LIGHTHOUSE);
    expect([exitCode, found.failure, stateOf(found, 'search')]).toEqual([1, null, state]);
    expect(found.fields.find(({ field }) => field === 'search')?.note).toContain(reason);
  });

  it('escapes terminal control characters in responses', async () => {
    await startUpstream([changedResponse('page', 'Bell Rock Light', '\\u001b[2J\\u009b31m')]);
    const { stdout } = await doctor([LIGHTHOUSE]);
    expect(stdout).toContain('[2J');
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});

describe('the doctor for an upstream that does not respond', () => {
  it.each([
    ['429', respondWithStatus(429), 'status 429'],
    ['a "sorry" page', redirectTo('https://www.google.com/sorry/index'), 'redirect to https://www.google.com/sorry'],
    ['a captcha', respondWithHtml(), 'HTML'],
    ['a broken connection', FAULTS.resetBeforeResponse, 'reached'],
  ])('gives %s as the reason', async (_name, listener, reason) => {
    await startUpstream();
    replay.misbehave('all', listener);
    const { exitCode, failure, fields } = await report('@BellRockLight');
    expect([exitCode, failure?.code, fields]).toEqual([1, 'upstream_unavailable', []]);
    expect(failure?.message).toContain(reason);
    expect((await doctor(['@BellRockLight'])).stdout).toContain(reason);
  });

  it('does not report a block as an absent channel', async () => {
    await startUpstream();
    const unknown = await report('@nobody');
    expect([unknown.exitCode, unknown.failure?.code]).toEqual([1, 'channel_not_found']);
    const gone = await report('UCreplayTerminated000010');
    expect([gone.exitCode, gone.failure?.code, gone.fields]).toEqual([1, 'channel_not_found', []]);
  });
});

describe('the doctor for the official API', () => {
  const source = ['--source', 'youtube-data-api'];

  it('shows the source of each field, without the key', async () => {
    await startUpstream();
    const { exitCode, fields } = await report('@BellRockLight', ...source);
    expect(exitCode).toBe(0);
    expect(fields.find(({ field }) => field === 'viewCount')).toMatchObject({
      value: '5',
      path: 'statistics.viewCount',
    });
    const { stdout, stderr } = await doctor(['@BellRockLight', ...source]);
    expect(stdout + stderr).not.toContain(KEY);
  });

  it('reports that the key is refused, without the key', async () => {
    await startUpstream();
    replay.misbehave('data-api', respondWithDataApiError(400, 'keyInvalid', `API key ${KEY} not valid`));
    const { exitCode, stdout } = await doctor(['@BellRockLight', ...source]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('does not accept this service’s key');
    expect(stdout).not.toContain(KEY);
  });

  it('makes no call without a key', async () => {
    await startUpstream();
    const { exitCode, stderr } = await doctor(['@BellRockLight', ...source], { env: {} });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('YOUTUBE_API_KEY');
    expect(replay.calls).toEqual([]);
  });
});

describe('the doctor’s command line', () => {
  it.each([
    [[], '@handle|ID|username is missing'],
    [['@a', '@b'], 'Unexpected argument "@b"'],
    [['!'], 'not a channel ID'],
    [['@a', '--source', 'catalog'], 'no source "catalog"'],
    [['@a', '--frobnicate'], 'frobnicate'],
  ])('%j is refused with the reason and the usage', async (args, reason) => {
    await startUpstream();
    const { exitCode, stdout, stderr } = await doctor(args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
    expect(stderr).toContain('Usage:');
    expect(replay.calls).toEqual([]);
  });

  it('prints the help', async () => {
    await startUpstream();
    const { exitCode, stdout } = await doctor(['--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('unreadable');
  });
});
