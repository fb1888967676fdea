import { describe, expect, it } from 'vitest';
import { redirectTo, respondWithHtml, respondWithStatus } from '../../test/helpers/fake-upstream.ts';
import { OWN_RESPONSES, readResponses } from '../../test/helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../../test/helpers/replay-server.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';
import { doctorCommand } from './doctor.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';

let replay: ReplayServer;

/** @param renames texts that upstream has replaced in its responses */
async function startUpstream(...renames: [string, string][]): Promise<void> {
  const responses = readResponses(OWN_RESPONSES).map((response) => ({
    ...response,
    text: renames.reduce((text, [from, to]) => text.replaceAll(from, to), response.text),
  }));
  replay = await startReplayForTest({ responses });
}

function doctor(...args: string[]) {
  return runInProcess(doctorCommand, args, { env: youtubeSettings(replay.origin) });
}

describe('the doctor', () => {
  it.each(['@BellRockLight', LIGHTHOUSE, 'bellrock', 'https://www.youtube.com/@BellRockLight'])(
    'finds every field of %s, and shows where',
    async (channel) => {
      await startUpstream();
      const { exitCode, stdout } = await doctor(channel);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^viewCount +found +312530935570 +aboutChannelViewModel\.viewCountText$/m);
      expect(stdout).toMatch(/^publishedAt +found +2011-02-01T06:30:15Z +feed\.published$/m);
      expect(stdout).toMatch(/\n\n\S+: Every field is found\.\n$/);
    },
  );

  it.each<[string, [string, string], string]>([
    ['a banner in another form', ['imageBannerViewModel', 'bannerViewModel'], 'banner (unreadable)'],
    ['a renamed country', ['"country"', '"land"'], 'country (absent)'],
    ['an unknown country', ['United Kingdom', 'Freedonia'], 'country (unreadable)'],
    ['renamed links', ['"links"', '"linksV2"'], 'links (absent)'],
    [
      'a renamed panel',
      ['aboutChannelViewModel', 'aboutPanelViewModel'],
      'country (lost), viewCount (lost), videoCount (lost), links (lost)',
    ],
  ])('names what it does not find: %s', async (_what, rename, states) => {
    await startUpstream(rename);
    const { exitCode, stdout } = await doctor('@BellRockLight');
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`: Not found: ${states}.\n`)]);
  });

  it('shows a value that it cannot read, and the object and member that have it', async () => {
    await startUpstream(['United Kingdom', 'Freedonia']);
    const { stdout } = await doctor('@BellRockLight');
    expect(stdout).toMatch(/^country +unreadable +Freedonia +aboutChannelViewModel\.country$/m);
  });

  it.each([
    ['429', respondWithStatus(429), 'status 429'],
    ['a "sorry" page', redirectTo('https://www.google.com/sorry/index'), 'redirect to https://www.google.com/sorry'],
    ['a captcha', respondWithHtml(), 'HTML with status 200'],
    ['403', respondWithStatus(403), 'refused the call. (status 403)'],
    ['500', respondWithStatus(500), 'gives no usable responses. (status 500)'],
  ])('gives %s as the reason why there is no record', async (_name, listener, reason) => {
    await startUpstream();
    replay.misbehave('all', listener);
    const { exitCode, stdout } = await doctor('@BellRockLight');
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^@BellRockLight: upstream_unavailable: [^\n]*\n$/)]);
    expect(stdout).toContain(reason);
  });

  it.each([
    ['https://youtu.be/dQw4w9WgXcQ', 'a video, not a channel'],
    ['https://www.youtube.com/feed/explore', 'a page without a channel'],
    ['two words', 'not a channel ID, handle or user name'],
  ])('says what %s is', async (argument, what) => {
    const { exitCode, stderr } = await doctor(argument);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`"${argument}" is ${what}.`)]);
  });

  it('escapes terminal control characters in responses', async () => {
    await startUpstream(['Bell Rock Light', '\\u001b[2J\\u009b31m']);
    const { stdout } = await doctor(LIGHTHOUSE);
    expect(stdout).toContain('[2J');
    expect(stdout).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});
