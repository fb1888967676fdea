import { describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { type LogLine, recordLog } from '../helpers/log.ts';
import { OWN_RESPONSES, type ReplayResponse, readResponses } from '../helpers/replay-responses.ts';
import type { ReplayOptions } from '../helpers/replay-server.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What YouTube no longer sends: one field, or a part of its responses, for one channel or for all. */

const TEMPLATE = 'UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const idOf = (number: number) => `UCreplayNumbered${String(number).padStart(8, '0')}`;
const urlOf = (number: number) => `/api/channel/${idOf(number)}`;

/** Renames names of members, as YouTube does. */
type Rename = (text: string) => string;
const rename =
  (name: string): Rename =>
  (text) =>
    text.replaceAll(`"${name}"`, `"${name}V2"`);
/** The panel, and everything in the page that leads to it. */
const losePanel: Rename = (text) =>
  ['showEngagementPanelEndpoint', 'aboutChannelViewModel']
    .map(rename)
    .reduce((changed, change) => change(changed), text);
const nothing: Rename = (text) => text;

let running: YoutubeService;
let service: TestApp;
let changes: Map<number | 'all', Rename>;
let log: readonly LogLine[];

/** A service with channels that all have every field. */
async function start(channels: number, options: ReplayOptions = {}, env: Record<string, string> = {}): Promise<void> {
  changes = new Map();
  const { lines, logger } = recordLog();
  log = lines;
  const templates = readResponses(OWN_RESPONSES).filter(({ file }) => /^(?:channel-page|about)-lighthouse/.test(file));
  const responses = Array.from({ length: channels }, (_, number) =>
    templates.map(({ request, text, ...rest }): ReplayResponse => {
      const isPage = request.body?.browseId !== undefined;
      return {
        ...rest,
        request: { ...request, body: isPage ? { browseId: idOf(number) } : { continuation: idOf(number) } },
        get text() {
          const change = changes.get(number) ?? changes.get('all') ?? nothing;
          return change(text).replaceAll(TEMPLATE, idOf(number));
        },
      };
    }),
  ).flat();
  running = await startYoutubeForTest({ responses, ...options }, { dataDir: await createDataDir(), logger, env });
  ({ service } = running);
}

async function load(number: number) {
  const { status, headers, json } = await service.get(urlOf(number));
  expect(status).toBe(200);
  return { control: headers['cache-control'], record: json<Record<string, unknown>>() };
}

async function loadAll(channels: number): Promise<void> {
  for (let number = 0; number < channels; number += 1) await load(number);
}

const conditions = async () => (await service.readiness()).conditions.map(({ name }) => name);
const PANEL_FIELDS = { viewCount: '312530935570', videoCount: '7634', country: 'GB' };
const FOR_A_MINUTE = 'public, max-age=60';
const FOR_AN_HOUR = 'public, max-age=3600';

describe('a channel that lacks something', () => {
  it.each<[string, Rename]>([
    ['the panel, and what leads to it', losePanel],
    ['the panel', rename('aboutChannelViewModel')],
    ['the panel and the metadata', (text) => losePanel(rename('channelMetadataRenderer')(text))],
    ['the content of the panel', (text) => text.replaceAll(/"(\w+Text|country|links)"/g, '"$1V2"')],
    ['English', (text) => text.replaceAll(' views', ' Aufrufe').replaceAll('Joined ', 'Beigetreten: ')],
    ['its views', rename('viewCountText')],
    ['its country', rename('country')],
    ['the number of videos', rename('videoCountText')],
    ['the date', rename('joinedDateText')],
    ['links', rename('links')],
    ['links in a known form', rename('channelExternalLinkViewModel')],
    ['its banner', rename('imageBannerViewModel')],
    ['its header', rename('header')],
  ])('keeps the last good values, for a minute: %s', async (_what, change) => {
    await start(1);
    const { record: whole } = await load(0);
    expect(whole).toMatchObject(PANEL_FIELDS);
    changes.set(0, change);
    service.clock.advance(HOUR_MS + 1);
    expect(await load(0)).toEqual({ control: FOR_A_MINUTE, record: whole });
    changes.clear();
    service.clock.advance(MINUTE_MS + 1);
    expect(await load(0)).toEqual({ control: FOR_AN_HOUR, record: whole });
  });

  it('keeps the last good values over a restart', async () => {
    await start(1);
    const { record: whole } = await load(0);
    changes.set(0, losePanel);
    service.clock.advance(HOUR_MS + 1);
    await load(0);
    service = await running.restart();
    expect((await load(0)).record).toEqual(whole);
  });

  it.each<[string, Rename]>([
    ['its panel', losePanel],
    ['its panel and its metadata', (text) => losePanel(rename('channelMetadataRenderer')(text))],
  ])('is incomplete without %s if nothing is stored', async (_what, change) => {
    await start(1);
    changes.set(0, change);
    const { control, record } = await load(0);
    expect(control).toBe(FOR_A_MINUTE);
    expect(record).toMatchObject({ title: 'Bell Rock Light', viewCount: null, country: null, videoCount: '7600' });
  });

  it('has removed what only it lacks for an hour', async () => {
    await start(6);
    await loadAll(6);
    changes.set(0, rename('country'));
    service.clock.advance(HOUR_MS + 1);
    await loadAll(6);
    for (let minute = 0; minute < 59; minute += 1) {
      service.clock.advance(MINUTE_MS + 1);
      expect(await load(0)).toMatchObject({ control: FOR_A_MINUTE, record: { country: 'GB' } });
    }
    service.clock.advance(MINUTE_MS + 1);
    expect(await load(0)).toMatchObject({ control: FOR_AN_HOUR, record: { country: null } });
    expect(await conditions()).toEqual([]);
    service = await running.restart();
    expect((await load(0)).record.country).toBeNull();
  });
});

describe('a field that most channels lack', () => {
  it('is a condition with its name, in the log, on the console and in the metrics, until they have it again', async () => {
    await start(6);
    await loadAll(6);
    expect(await conditions()).toEqual([]);
    changes.set('all', rename('country'));
    service.clock.advance(HOUR_MS + 1);
    await loadAll(6);
    const detail = expect.stringMatching(/^missing for 6 of 6 channels that were loaded in the last hour/);
    expect((await service.readiness()).conditions).toEqual([{ name: 'field country', detail, isBlocking: false }]);
    expect((await service.state()).conditions).toHaveLength(1);
    expect(log.filter(({ msg }) => msg.startsWith('field country'))).toHaveLength(1);
    expect(await service.metric('pennant_part_degraded{part="field country"}')).toBe(1);
    // The values stay for as long as most lack it.
    for (let hour = 0; hour < 4; hour += 1) {
      for (let minute = 0; minute < 60; minute += 20) {
        service.clock.advance(20 * MINUTE_MS);
        await loadAll(6);
      }
      expect(await load(3)).toMatchObject({ control: FOR_A_MINUTE, record: { country: 'GB' } });
    }
    changes.clear();
    service.clock.advance(MINUTE_MS + 1);
    await loadAll(6);
    expect(await conditions()).toEqual([]);
    expect(log.at(-1)?.msg).toBe('field country works again');
    expect(await load(3)).toMatchObject({ control: FOR_AN_HOUR, record: { country: 'GB' } });
  });

  it('is one for each field of a panel that is gone, also for new channels', async () => {
    await start(6);
    changes.set('all', losePanel);
    await loadAll(6);
    expect((await conditions()).sort()).toEqual([
      'field country',
      'field links',
      'field publishedAt',
      'field videoCount',
      'field viewCount',
    ]);
    expect(await service.metric('pennant_source_fields_total{source="youtube",field="country",path="none"}')).toBe(6);
  });

  it.each([
    ['viewCount', 'viewCount', ' views', ' plays'],
    ['subscriberCount', 'subscriberCount', ' subscribers', ' followers'],
    ['country', 'country', 'United Kingdom', 'Freedonia'],
    ['banner', 'bannerUrl', 'imageBannerViewModel', 'bannerImageViewModel'],
  ])('is one also for new channels if its value cannot be read: %s', async (field, shown, from, to) => {
    await start(6);
    changes.set('all', (text) => text.replaceAll(from, to));
    await loadAll(6);
    expect(await load(0)).toMatchObject({ control: FOR_A_MINUTE, record: { [shown]: null } });
    expect(await conditions()).toEqual([`field ${field}`]);
  });

  it('is forgotten an hour after the last response', async () => {
    await start(6);
    changes.set('all', losePanel);
    await loadAll(6);
    expect(await conditions()).toContain('field country');
    service.clock.advance(HOUR_MS + 1);
    await service.app.runDueWork();
    expect(await conditions()).toEqual([]);
  });

  it('is none for channels that never had it, and for a source that never has it', async () => {
    await start(6);
    changes.set('all', (text) => ['country', 'links', 'banner'].map(rename).reduce((t, f) => f(t), text));
    await loadAll(6);
    service.clock.advance(HOUR_MS + 1);
    await loadAll(6);
    expect(await conditions()).toEqual([]);
    expect((await load(0)).control).toBe(FOR_AN_HOUR);
  });
});

it('a source without links keeps those of another one', async () => {
  const item = {
    id: idOf(0),
    snippet: {
      title: 'Bell Rock Light',
      description: 'Light.',
      customUrl: '@bellrocklight',
      publishedAt: '2011-02-01T06:30:15Z',
      country: 'GB',
      thumbnails: { high: { url: 'https://yt3.ggpht.com/lighthouse-avatar=s800' } },
    },
    statistics: { viewCount: '1', videoCount: '1', subscriberCount: '1' },
    brandingSettings: { image: { bannerExternalUrl: 'https://yt3.ggpht.com/lighthouse-banner' } },
  };
  const env = { SOURCES: 'youtube,youtube-data-api', YOUTUBE_API_KEY: KEY };
  await start(1, { dataApi: respondAsDataApi([item]) }, env);
  const { record } = await load(0);
  running.replay.misbehave('browse', (_request, response) => void response.writeHead(501).end());
  service.clock.advance(HOUR_MS + 1);
  expect(await load(0)).toMatchObject({ control: FOR_AN_HOUR, record: { viewCount: '1', links: record.links } });
});
