import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { OWN_RESPONSES, type ReplayResponse, readResponses } from '../helpers/replay-responses.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

/* What YouTube no longer sends: one field, or a part of its responses, for one channel or for all. */

const TEMPLATE = 'UCreplayLighthouse000001';
const HOUR_MS = 3_600_000;

const idOf = (number: number) => `UCreplayNumbered${String(number).padStart(8, '0')}`;

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

/** How the responses of the current channel differ from those with every field. */
let change: Rename;
/** Each test has a channel of its own. */
let channel = 0;

const templates = readResponses(OWN_RESPONSES).filter(({ file }) => /^(?:channel-page|about)-lighthouse/.test(file));
const responses = Array.from({ length: 20 }, (_, number) =>
  templates.map(({ request, text, ...rest }): ReplayResponse => {
    const isPage = request.body?.browseId !== undefined;
    return {
      ...rest,
      request: { ...request, body: isPage ? { browseId: idOf(number) } : { continuation: idOf(number) } },
      get text() {
        return change(text).replaceAll(TEMPLATE, idOf(number));
      },
    };
  }),
).flat();

let running: YoutubeService;
beforeAll(async () => {
  running = await startYoutubeService({ responses: [...responses, ...readResponses(OWN_RESPONSES)] });
});
afterAll(() => running.close());
beforeEach(() => {
  channel += 1;
  change = nothing;
});

async function load() {
  const { status, headers, json } = await running.service.get(`/api/channel/${idOf(channel)}`);
  expect(status).toBe(200);
  return { control: headers['cache-control'], record: json<Record<string, unknown>>() };
}

/** The next response is a new one. */
async function reload() {
  running.service.clock.advance(HOUR_MS + 1);
  return load();
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
  ])('keeps the last good values, for %s: %s', async (time, _what, loseSomething) => {
    const { record: whole } = await load();
    expect(whole).toMatchObject(PANEL_FIELDS);
    change = loseSomething;
    const control = time === 'an hour' ? FOR_AN_HOUR : FOR_A_MINUTE;
    expect(await reload()).toEqual({ control, record: whole });
    change = nothing;
    expect(await reload()).toEqual({ control: FOR_AN_HOUR, record: whole });
  });

  it.each<[string, Rename]>([
    ['its panel', losePanel],
    ['its panel and its metadata', (text) => losePanel(rename('channelMetadataRenderer')(text))],
  ])('is incomplete without %s if nothing is stored', async (_what, loseSomething) => {
    change = loseSomething;
    const { control, record } = await load();
    expect(control).toBe(FOR_A_MINUTE);
    expect(record).toMatchObject({ title: 'Bell Rock Light', viewCount: null, country: null, videoCount: '7600' });
  });

  it.each<[string, Rename]>([
    ['a place without a code', (text) => text.replaceAll('United Kingdom', 'Kosovo')],
    ['a date in another form', (text) => text.replaceAll('Joined ', 'Since ')],
    ['a banner in another form', rename('imageBannerViewModel')],
  ])('is fresh for its hour with a value that cannot be read: %s', async (_what, loseSomething) => {
    change = loseSomething;
    const { control, record } = await load();
    expect(control).toBe(FOR_AN_HOUR);
    expect(Object.values({ ...record, bannerUrls: null }).filter((value) => value === null).length).toBeGreaterThan(1);
    expect(record).toMatchObject({ title: 'Bell Rock Light', viewCount: PANEL_FIELDS.viewCount });
  });

  it('keeps a value for a day after YouTube last sent it, each field for itself', async () => {
    const { record: whole } = await load();
    const reloadHourly = async (hours: number) => {
      for (let hour = 0; hour < hours; hour += 1) await reload();
    };
    change = rename('country');
    await reloadHourly(12);
    change = (text) => rename('links')(rename('country')(text));
    await reloadHourly(11);
    expect((await load()).record).toMatchObject({ country: 'GB' });
    await reloadHourly(1);
    expect((await load()).record).toMatchObject({ country: null, links: whole.links });
    await reloadHourly(12);
    expect((await load()).record).toMatchObject({ country: null, links: [] });
  });

  it('does not replace a complete one when it is loaded by another ID', async () => {
    const { service, replay } = running;
    const whole = (await service.get(`/api/channel/${TEMPLATE}`)).json();
    replay.misbehave('about', respondWithStatus(500));
    const moved = await service.get('/api/channel/UCreplayMovedAway0000009');
    expect([moved.status, moved.json()]).toEqual([200, whole]);
    expect((await service.get(`/api/channel/${TEMPLATE}`)).json()).toEqual(whole);
    replay.behave();
  });

  it('is counted in the metric of fields', async () => {
    const series = 'pennant_source_fields_total{source="youtube",field="country",state="lost"}';
    const before = (await running.service.metric(series)) ?? 0;
    change = losePanel;
    await load();
    expect(await running.service.metric(series)).toBe(before + 1);
  });
});
