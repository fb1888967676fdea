import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordChannel } from '../../scripts/record-youtube.ts';
import { respondWithHtml } from '../helpers/fake-upstream.ts';
import { handleIdentifier } from '../helpers/handle.ts';
import { type ExpectedValues, expectRecord } from '../helpers/indexed-responses.ts';
import {
  jsonResponse,
  OWN_RESPONSES,
  ownResponse,
  type ReplayResponse,
  readResponses,
} from '../helpers/replay-responses.ts';
import { type ReplayServer, youtubeSettings } from '../helpers/replay-server.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';
import { startReplayedSource } from '../helpers/youtube-source.ts';

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
  replay = await startReplayForTest({ responses });
}

async function record(channel = '@BellRockLight', keep: readonly string[] = [], env: Record<string, string> = {}) {
  const lines = await recordChannel(channel, directory, keep, { ...youtubeSettings(replay.origin), ...env });
  return lines.join('\n');
}

async function writtenText(): Promise<string> {
  const files = await readdir(directory);
  return (await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))).join('\n');
}

describe('a recording', () => {
  it('has every response once, from whole pages, and gives the same record as YouTube', async () => {
    await startUpstream();
    expect(await record()).toMatch(
      /^viewCount +found +312530935570 +aboutChannelViewModel\.viewCountText\n[\s\S]*\nWritten: resolve\.json, .*index\.json$/m,
    );
    expect(replay.callsTo('browse')[0]?.path).toBe('/youtubei/v1/browse?prettyPrint=false');
    const recorded = readResponses(directory);
    const { source } = await startReplayedSource({ responses: recorded });
    const { signal } = new AbortController();
    expect((await source.resolve(handleIdentifier('@BellRockLight'), { signal })).channelId).toBe(LIGHTHOUSE);
    const { channel, isComplete } = await source.getChannel(LIGHTHOUSE, { signal });
    const valuesOf = (name: string) => recorded.find(({ file }) => file === name)?.expected as ExpectedValues;
    expectRecord(channel, valuesOf('page.json'));
    expect(valuesOf('page.json').country).toBe('GB');
    expect([channel.viewCount, isComplete]).toEqual(['312530935570', true]);
    const hits = await source.search('Bell Rock Light', { signal });
    const { count, firstFive } = valuesOf('search.json') as { count?: number; firstFive?: object[] };
    expect(hits).toHaveLength(count ?? 0);
    expect(hits).toMatchObject(firstFive ?? []);
  });

  it('has no HTML pages, which may contain the client’s address', async () => {
    await startUpstream();
    replay.misbehave('all', respondWithHtml());
    expect(await record()).toMatch(/^Written: index\.json\n.*HTML/m);
    expect(await readdir(directory)).toEqual(['index.json']);
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
    await record(LIGHTHOUSE, [], { YOUTUBE_API_KEY: SECRETS.otherApiKey });
    const text = await writtenText();
    expect(text).toContain('Bell Rock Light');
    for (const [kind, secret] of Object.entries(SECRETS)) {
      for (const form of [secret, encodeURIComponent(secret), secret.slice(0, 14)]) {
        expect(text.includes(form), `${kind}: ${form}`).toBe(false);
      }
    }
    expect(text).not.toMatch(/127\.0\.0\.1|visitorData|trackingParams|INNERTUBE_|cookie/i);
  });

  it('includes members with unknown names, which are told and can be kept step by step', async () => {
    await startUpstream(
      RESPONSES.map((response) => ({
        ...response,
        text: response.text.replace(/"viewCountText": ?("[^"]*")/, '"figures": [{"figureViewModel": {"label": $1}}]'),
      })),
    );
    const keep: string[] = [];
    for (const next of ['figures', 'figureViewModel', 'label']) {
      directory = `${directory}-next`;
      expect(await record('@BellRockLight', keep)).toMatch(new RegExp(`\nLeft out .*: ${next}$`));
      expect(await writtenText()).not.toContain(next);
      keep.push(next);
    }
    directory = `${directory}-next`;
    expect(await record('@BellRockLight', keep)).toMatch(/^viewCount +absent[\s\S]*index\.json$/m);
    expect(await writtenText()).toMatch(/"label": "[\d,]+ views"/);
  });

  it.each(['trackingParams', 'visitorData', 'sessionToken', 'cookies'])('can never be kept: %s', async (name) => {
    await startUpstream();
    await expect(record('@BellRockLight', [name])).rejects.toThrow(name);
    expect(replay.calls).toEqual([]);
  });
});
