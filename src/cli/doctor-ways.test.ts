import { expect, it } from 'vitest';
import { respondWithStatus } from '../../test/helpers/fake-upstream.ts';
import { OWN_RESPONSES, ownResponse, readResponses } from '../../test/helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../../test/helpers/replay-server.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';
import type { Diagnosis } from './doctor/diagnose.ts';
import { doctorCommand } from './doctor.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const BUILT_IN = '2.20260630.03.00';
const NAMED = '2.20270101.01.00';
const WITHOUT_HEADERS = 'way: JSON calls';
const WITH_HEADERS = 'way: JSON calls with headers';
const HTML = 'way: HTML page';

async function report(channel: string): Promise<Diagnosis & { exitCode: unknown }> {
  const env = youtubeSettings(replay.origin);
  const { exitCode, stdout } = await runInProcess(doctorCommand, [channel, '--json'], { env });
  return { exitCode, ...(JSON.parse(stdout) as Diagnosis) };
}

const waysIn = ({ fields }: Diagnosis) =>
  Object.fromEntries(
    fields
      .filter(({ field }) => field.startsWith('way: '))
      .map(({ field, state, value, note }) => [field, [state, value, note]]),
  );

let replay: ReplayServer;

async function startAccepting(): Promise<void> {
  replay = await startReplayForTest({ responses: readResponses(OWN_RESPONSES), hasAboutPages: true });
}

/** Calls without one of the accepted client versions get a 400. */
async function startRefusing({ accepted = [] as string[], hasAboutPages = true } = {}): Promise<void> {
  const clientVersions = { accepted: new Set(accepted), acceptsWithoutHeaders: false, named: NAMED };
  replay = await startReplayForTest({ clientVersions, hasAboutPages });
}

it('tries each, and names the one in use', async () => {
  await startAccepting();
  expect(waysIn(await report(LIGHTHOUSE))).toEqual({
    [WITHOUT_HEADERS]: ['fine', BUILT_IN, 'in use'],
    [WITH_HEADERS]: ['fine', BUILT_IN, null],
    [HTML]: ['fine', 'page and About panel', null],
  });
});

it.each(['@BellRockLight', LIGHTHOUSE])('uses headers where calls without are refused, for %s', async (asked) => {
  await startRefusing({ accepted: [NAMED] });
  const found = await report(asked);
  expect([found.exitCode, found.failure]).toEqual([1, null]);
  expect(waysIn(found)).toEqual({
    [WITHOUT_HEADERS]: ['unreadable', null, expect.stringContaining('INVALID_ARGUMENT')],
    [WITH_HEADERS]: ['fine', NAMED, 'in use'],
    [HTML]: ['fine', 'page and About panel', null],
  });
});

it('uses the HTML page where all calls are refused, and finds every field in it', async () => {
  await startRefusing();
  const found = await report(LIGHTHOUSE);
  expect([found.exitCode, found.failure]).toEqual([1, null]);
  expect(waysIn(found)).toEqual({
    [WITHOUT_HEADERS]: ['unreadable', null, expect.stringContaining('INVALID_ARGUMENT')],
    [WITH_HEADERS]: ['unreadable', null, expect.stringContaining('INVALID_ARGUMENT')],
    [HTML]: ['fine', 'page and About panel', 'in use'],
  });
  const others = found.fields.filter(({ field, state }) => !field.startsWith('way: ') && state !== 'fine');
  expect(others.map(({ field }) => field)).toEqual(['search']);
  expect(found.fields.find(({ field }) => field === 'country')?.path).toContain('showEngagementPanelEndpoint');
});

it('reports that no way works', async () => {
  await startRefusing({ hasAboutPages: false });
  const found = await report(LIGHTHOUSE);
  expect([found.exitCode, found.failure?.code]).toEqual([1, 'upstream_invalid']);
  expect(waysIn(found)[HTML]).toEqual(['unreadable', null, expect.stringMatching(/in use; .*status 404/)]);
});

it('reports an HTML page without the panel that its header leads to', async () => {
  await startAccepting();
  const data = JSON.stringify(ownResponse('browseId', 'UCreplayHeaderToken00012'));
  replay.misbehave('about-page', respondWithStatus(200, {}, `<script>var ytInitialData = ${data};</script>`));
  expect(waysIn(await report(LIGHTHOUSE))[HTML]).toEqual(['unreadable', null, 'The page lacks its About panel.']);
});

it('reports that YouTube no longer names a version', async () => {
  await startAccepting();
  replay.misbehave('version', respondWithStatus(404));
  const found = await report(LIGHTHOUSE);
  expect(found.exitCode).toBe(1);
  expect(waysIn(found)[WITH_HEADERS]).toEqual(['unreadable', null, expect.stringContaining('sw.js_data: status 404')]);
});
