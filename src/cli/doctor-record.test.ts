import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { respondWithHtml, respondWithJson, respondWithStatus } from '../../test/helpers/fake-upstream.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { type ExpectedValues, expectRecord } from '../../test/helpers/indexed-responses.ts';
import {
  jsonResponse,
  OWN_RESPONSES,
  ownResponse,
  type ReplayResponse,
  readResponses,
} from '../../test/helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../../test/helpers/replay-server.ts';
import { runInProcess } from '../../test/helpers/run-command.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { startReplayForTest } from '../../test/helpers/youtube-service.ts';
import { createTestYoutubeSource } from '../../test/helpers/youtube-source.ts';
import { doctorCommand } from './doctor.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';

let replay: ReplayServer;
let directory: string;
beforeEach(async () => {
  directory = join(await createTemporaryDirectory(), 'recording');
});

/** What YouTube finds for the lighthouse's title. */
const SEARCH = jsonResponse('search', { query: 'Bell Rock Light' }, ownResponse('query', 'light'));

const RESPONSES = [...readResponses(OWN_RESPONSES), SEARCH];

async function startUpstream(responses: readonly ReplayResponse[] = RESPONSES): Promise<void> {
  replay = await startReplayForTest({ responses, image: respondWithStatus(404) });
}

function doctor(args: readonly string[], env: Record<string, string> = {}) {
  return runInProcess(doctorCommand, args, { env: { ...youtubeSettings(replay.origin), ...env } });
}

function record(asked = '@BellRockLight', args: readonly string[] = [], env: Record<string, string> = {}) {
  return doctor([asked, '--record', directory, ...args], env);
}

/** The lighthouse's responses with a text replaced. */
function renamed(from: string, to: string): ReplayResponse[] {
  return RESPONSES.map((response) => ({ ...response, text: response.text.replaceAll(from, to) }));
}

async function writtenText(): Promise<string> {
  const files = await readdir(directory);
  return (await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))).join('\n');
}

describe('a recording', () => {
  it('has every response once, and gives the same record as YouTube', async () => {
    await startUpstream();
    const { stderr } = await record();
    expect(stderr).toBe(
      `Written into ${directory}: resolve.json, page.json, about.json, search.json, feed.xml, index.json\n`,
    );
    const recorded = readResponses(directory);
    const again = await startReplayForTest({ responses: recorded });
    const source = createTestYoutubeSource(again.origin);
    const { signal } = new AbortController();
    expect((await source.resolve(handleRef('@BellRockLight'), { signal })).channelId).toBe(LIGHTHOUSE);
    const { channel, isComplete } = await source.getChannel(LIGHTHOUSE, { signal });
    const valuesOf = (name: string) => recorded.find(({ file }) => file === name)?.expected as ExpectedValues;
    expectRecord(channel, valuesOf('page.json'), { ...valuesOf('about.json'), publishedAt: '2011-02-01T06:30:15Z' });
    expect(channel).toMatchObject({ title: 'Bell Rock Light', country: 'GB', viewCount: '312530935570' });
    expect(channel.banner?.key).toBe('https://yt3.googleusercontent.com/lighthouse-banner');
    expect(isComplete).toBe(true);
    const { hits } = await source.search('Bell Rock Light', 20, { signal });
    expect(hits.map(({ title }) => title)).toEqual(['Bell Rock Light', 'Pebble Drop - Topic', 'ท่าเรือ']);
    const { count, firstFive = [] } = valuesOf('search.json') as { count?: number; firstFive?: object[] };
    expect(count).toBe(3);
    for (const [index, values] of firstFive.entries()) expect(hits[index]).toMatchObject(values);
    await source.close();
    await again.close();
  });

  it('has whole pages, because moved fields may be outside of the field mask', async () => {
    await startUpstream();
    await record();
    expect(replay.callsTo('browse')[0]?.path).toBe('/youtubei/v1/browse?prettyPrint=false');
  });

  it.each([
    ['a removed channel', 'UCreplayTerminated000010', 'page.json', 'not_found'],
    ['a response without information', 'UCreplayRegional00000011', 'page.json', 'could_not_tell'],
    ['an unresolvable name', '@nobody', 'resolve.json', 'not_found'],
  ])('may be of %s', async (_what, asked, file, error) => {
    await startUpstream();
    await record(asked);
    expect(readResponses(directory).find((response) => response.file === file)?.expected).toEqual({ error });
  });

  it('has no HTML pages, which may contain the client’s address', async () => {
    await startUpstream();
    replay.misbehave('all', respondWithHtml());
    const { stderr } = await record();
    expect(stderr).toBe('Nothing was written: no response was JSON.\n');
    await expect(readdir(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('data that a recording omits', () => {
  const SECRETS = {
    visitorData: 'Cgt2aXNpdG9yRGF0YSiUu4',
    trackingParams: 'CAAQtrackingParams3k',
    clickTrackingParams: 'CBkQclickTracking9x',
    apiKey: 'AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q',
    otherApiKey: 'very-secret-data-api-key',
    cookie: 'SIDCC=AKEyXzVsecret-cookie',
    sessionToken: 'QUFFLUhqbXNlc3Npb25Ub2tlbg',
    redirectToken: 'QUFFLUhqazRlZGlyVG9rZW4',
    continuation: '4qmFsgKcARIYVUNjb250aW51YXRpb24',
    signature: `sig_${'a1B2'.repeat(12)}`,
    email: 'owner.of-channel+press@mail.example.org',
    ipv4: '203.0.113.77',
    ipv6: '2001:db8:85a3::8a2e:370:7334',
    userAgent: 'Operator-Browser/77',
  };

  /** The lighthouse's page and panel with a secret wherever upstream may have one. */
  function seeded(): ReplayResponse[] {
    const { email, ipv4, ipv6, apiKey, signature, redirectToken, continuation, cookie, ...others } = SECRETS;
    const member = (name: string, value: unknown) => `${JSON.stringify(name)}:${JSON.stringify(value)},`;
    const beside = [
      member('responseContext', { visitorData: others.visitorData, remoteHost: ipv4, serviceTrackingParams: [others] }),
      member('trackingParams', others.trackingParams),
      member('clickTrackingParams', others.clickTrackingParams),
      member('INNERTUBE_API_KEY', apiKey),
      member('cookies', [cookie]),
      member('commandMetadata', { webCommandMetadata: { sessionToken: others.sessionToken } }),
    ].join('');
    const words = [
      `Write to ${email}, from ${ipv4} or [${ipv6}]`,
      apiKey,
      signature,
      `https://a.example/x?s=${cookie}`,
    ];
    return RESPONSES.map((response) => {
      if (!response.text.startsWith('{')) return response;
      const text = response.text
        // In every object of the response.
        .replaceAll('{', `{${beside}`)
        .replaceAll(/,(\s*)\}/g, '$1}')
        .replaceAll(/"token": ?"[^"]*"/g, `"token": "${continuation}"`)
        .replaceAll(/redir_token=[^"&]*/g, `redir_token=${redirectToken}`)
        .replaceAll('Light over dark water since 1811.', words.join(' '));
      return { ...response, text };
    });
  }

  it('includes every kind of secret in every place', async () => {
    await startUpstream(seeded());
    const { exitCode, stderr } = await record(LIGHTHOUSE, [], { YOUTUBE_API_KEY: SECRETS.otherApiKey });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('about.json')]);
    const text = await writtenText();
    expect(text).toContain('Bell Rock Light');
    for (const [kind, secret] of Object.entries(SECRETS)) {
      for (const form of [secret, encodeURIComponent(secret), secret.slice(0, 14)]) {
        expect(text.includes(form), `${kind}: ${form}`).toBe(false);
      }
    }
    expect(text).not.toMatch(/127\.0\.0\.1|visitorData|trackingParams|INNERTUBE_|cookie/i);
  });

  it('includes every member with an unknown name, unless it is requested', async () => {
    await startUpstream(renamed('"country"', '"countryOfOrigin"'));
    const { stdout } = await record();
    expect(stdout).toMatch(/^country +absent +unknown in aboutChannelViewModel: countryOfOrigin$/m);
    expect(await writtenText()).not.toContain('countryOfOrigin');
    directory = `${directory}-2`;
    await record('@BellRockLight', ['--keep', 'countryOfOrigin']);
    expect(await writtenText()).toContain('"countryOfOrigin": "United Kingdom"');
  });

  it('is named if it replaces an object on the way to a value', async () => {
    await startUpstream(renamed('"imageBannerViewModel"', '"bannerViewModel"'));
    expect((await record()).stdout).toMatch(/^banner .*unknown in banner: bannerViewModel$/m);
  });

  it('includes unknown items of a search, whose names the doctor shows, unless they are requested', async () => {
    const lamp = { lampRenderer: { beam: { simpleText: 'Bell Rock Light' } } };
    await startUpstream();
    replay.misbehave('search', respondWithJson({ contents: [{ itemSectionRenderer: { contents: [lamp] } }] }));
    expect((await record()).stdout).toMatch(/^search +unreadable .*unknown items: lampRenderer/m);
    expect(await writtenText()).not.toContain('lampRenderer');
    directory = `${directory}-2`;
    const { stderr } = await record('@BellRockLight', ['--keep', 'lampRenderer', '--keep', 'beam']);
    expect(stderr).toContain('search.json');
    expect(await writtenText()).toContain('"lampRenderer"');
  });

  it('can be requested step by step if a part has moved several levels deep', async () => {
    await startUpstream(
      RESPONSES.map((response) => ({
        ...response,
        text: response.text.replace(/"viewCountText": ?("[^"]*")/, '"figures": [{"figureViewModel": {"label": $1}}]'),
      })),
    );
    expect((await record()).stdout).toMatch(/^viewCount +missing .*unknown in aboutChannelViewModel: figures$/m);
    const keeping = ['--keep', 'figures'];
    for (const next of ['figureViewModel', 'label']) {
      directory = `${directory}-next`;
      expect((await record('@BellRockLight', keeping)).stderr).toMatch(new RegExp(`^Left out below .*: ${next}$`, 'm'));
      keeping.push('--keep', next);
    }
    directory = `${directory}-next`;
    expect((await record('@BellRockLight', keeping)).stderr).not.toContain('Left out');
    expect(await writtenText()).toMatch(/"label": "[\d,]+ views"/);
  });

  it.each(['trackingParams', 'visitorData', 'sessionToken', 'cookies', '__proto__', 'a b'])(
    'cannot be requested by a name that may have a secret: %s',
    async (name) => {
      await startUpstream();
      const { exitCode, stderr } = await record('@BellRockLight', ['--keep', name]);
      expect([exitCode, stderr.split('\n')[0]]).toEqual([2, expect.stringContaining(name)]);
      expect(replay.calls).toEqual([]);
    },
  );

  it('includes everything that is nested too deep', async () => {
    const deep = `${'{"content":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
    const page = { metadata: { channelMetadataRenderer: { externalId: LIGHTHOUSE, title: 'Deep', x: 0 } } };
    const response = jsonResponse('browse', { browseId: LIGHTHOUSE }, page);
    await startUpstream([{ ...response, text: response.text.replace('"x":0', `"description":${deep}`) }]);
    await record(LIGHTHOUSE);
    expect((await writtenText()).length).toBeLessThan(50_000);
  });
});

describe('the directory of a recording', () => {
  it('is refused if it is not empty', async () => {
    await startUpstream();
    await mkdir(directory);
    await writeFile(join(directory, 'index.json'), 'mine');
    const { exitCode, stderr } = await record();
    expect([exitCode, stderr.split('\n')[0]]).toEqual([2, `${directory} already exists and is not empty.`]);
    expect(replay.calls).toEqual([]);
    expect(await writtenText()).toBe('mine');
  });

  it('is refused if it is a file', async () => {
    await startUpstream();
    await writeFile(directory, 'mine');
    expect((await record()).exitCode).toBe(2);
    expect(await readFile(directory, 'utf8')).toBe('mine');
  });

  it('may exist if it is empty', async () => {
    await startUpstream();
    await mkdir(directory);
    await record();
    expect(await readdir(directory)).toContain('index.json');
  });
});

describe('the command line of a recording', () => {
  it.each([
    [['@a', '--keep', 'country'], '--keep needs --record'],
    [['@a', '--source', 'youtube-data-api', '--record', 'x'], 'with the source youtube only'],
  ])('%j is refused', async (args, reason) => {
    await startUpstream();
    const { exitCode, stderr } = await doctor(args, { YOUTUBE_API_KEY: 'key' });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });
});
