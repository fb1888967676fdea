import { describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { OWN_RESPONSES, type ReplayResponse, readResponses } from '../helpers/replay-responses.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* What YouTube no longer sends: one field, or a part of its responses, for one channel or for all. */

const TEMPLATE = 'UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;

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

/** A service with channels that all have every field. */
async function start(channels: number): Promise<void> {
  changes = new Map();
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
  running = await startYoutubeForTest({ responses });
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

const PANEL_FIELDS = { viewCount: '312530935570', videoCount: '7634', country: 'GB' };
const FOR_A_MINUTE = 'public, max-age=60';
const FOR_AN_HOUR = 'public, max-age=3600';

describe('a channel that lacks something', () => {
  it.each<[string, string, Rename]>([
    ['a minute', 'the panel, and what leads to it', losePanel],
    ['a minute', 'the panel and the metadata', (text) => losePanel(rename('channelMetadataRenderer')(text))],
    ['a minute', 'the content of the panel', (text) => text.replaceAll(/"(\w+Text|country|links)"/g, '"$1V2"')],
    ['a minute', 'English', (text) => text.replaceAll(' views', ' Aufrufe').replaceAll('Joined ', 'Beigetreten: ')],
    ['an hour', 'its views', rename('viewCountText')],
    ['an hour', 'links', rename('links')],
    ['an hour', 'its banner', rename('imageBannerViewModel')],
    ['an hour', 'its header', rename('header')],
  ])('keeps the last good values, for %s: %s', async (time, _what, change) => {
    await start(1);
    const { record: whole } = await load(0);
    expect(whole).toMatchObject(PANEL_FIELDS);
    changes.set(0, change);
    service.clock.advance(HOUR_MS + 1);
    const control = time === 'an hour' ? FOR_AN_HOUR : FOR_A_MINUTE;
    expect(await load(0)).toEqual({ control, record: whole });
    changes.clear();
    service.clock.advance(HOUR_MS + 1);
    expect(await load(0)).toEqual({ control: FOR_AN_HOUR, record: whole });
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

  it.each<[string, Rename]>([
    ['a place without a code', (text) => text.replaceAll('United Kingdom', 'Kosovo')],
    ['a date in another form', (text) => text.replaceAll('Joined ', 'Since ')],
    ['a banner in another form', rename('imageBannerViewModel')],
  ])('is fresh for its hour with a value that cannot be read: %s', async (_what, change) => {
    await start(1);
    changes.set(0, change);
    const { control, record } = await load(0);
    expect(control).toBe(FOR_AN_HOUR);
    expect(Object.values({ ...record, bannerUrls: null }).filter((value) => value === null).length).toBeGreaterThan(1);
    expect(record).toMatchObject({ title: 'Bell Rock Light', viewCount: PANEL_FIELDS.viewCount });
  });

  it('keeps a value for a day after YouTube last sent it, each field for itself', async () => {
    await start(1);
    const { record: whole } = await load(0);
    const reloadHourly = async (hours: number) => {
      for (let hour = 0; hour < hours; hour += 1) {
        service.clock.advance(HOUR_MS + 1);
        await load(0);
      }
    };
    changes.set(0, rename('country'));
    await reloadHourly(12);
    changes.set(0, (text) => rename('links')(rename('country')(text)));
    await reloadHourly(11);
    expect((await load(0)).record).toMatchObject({ country: 'GB' });
    await reloadHourly(1);
    expect((await load(0)).record).toMatchObject({ country: null, links: whole.links });
    await reloadHourly(12);
    expect((await load(0)).record).toMatchObject({ country: null, links: [] });
  });

  it('does not replace a complete one when it is loaded by another ID', async () => {
    running = await startYoutubeForTest();
    ({ service } = running);
    const whole = (await service.get(`/api/channel/${TEMPLATE}`)).json();
    running.replay.misbehave('about', respondWithStatus(500));
    const moved = await service.get('/api/channel/UCreplayMovedAway0000009');
    expect([moved.status, moved.json()]).toEqual([200, whole]);
    expect((await service.get(`/api/channel/${TEMPLATE}`)).json()).toEqual(whole);
  });

  it('is counted in the metric of fields', async () => {
    await start(6);
    changes.set('all', losePanel);
    await loadAll(6);
    expect(await service.metric('pennant_source_fields_total{source="youtube",field="country",path="none"}')).toBe(6);
  });
});
