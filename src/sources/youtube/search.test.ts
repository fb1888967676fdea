import { beforeEach, describe, expect, it } from 'vitest';
import { answerJson, answerStatus } from '../../../test/helpers/fake-upstream.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import { startReplayedSource, type YoutubeSource } from '../../../test/helpers/youtube-source.ts';
import { pictureVersion } from '../../domain/channel.ts';
import { parsePicture } from './urls.ts';

const HIT = { channelId: 'UCreplayLighthouse000001', title: { simpleText: 'Bell Rock Light' } };
const OTHER_HIT = { channelId: 'UCreplayQuiet00000000007', title: { simpleText: 'Quiet' } };

let replay: ReplayServer;
let source: YoutubeSource;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ replay, source } = await startReplayedSource());
});

const search = (from?: string) => source.search('light', 50, { signal, ...(from === undefined ? {} : { from }) });
const titlesOf = (page: Awaited<ReturnType<typeof search>>) => page.hits.map(({ title }) => title);

function section(...contents: object[]) {
  return { itemSectionRenderer: { contents } };
}

function firstPage(...contents: object[]) {
  return { contents: { twoColumnSearchResultsRenderer: { primaryContents: { sectionListRenderer: { contents } } } } };
}

function laterPage(...continuationItems: object[]) {
  return { onResponseReceivedCommands: [{ appendContinuationItemsAction: { continuationItems } }] };
}

const token = (text: string) => ({ continuationCommand: { token: text } });
const continuation = (text: string) => ({ continuationItemRenderer: { continuationEndpoint: token(text) } });

describe('a search', () => {
  it('makes one call for each page', async () => {
    const first = await search();
    expect(titlesOf(first)).toEqual(['Bell Rock Light', 'Pebble Drop - Topic', 'ท่าเรือ']);
    expect(replay.callsTo('search')).toHaveLength(1);
    const second = await search(first.next);
    expect(titlesOf(second)).toEqual(['ท่าเรือ', 'Quiet']);
    expect(second.next).toBeUndefined();
    expect(replay.callsTo('search')).toHaveLength(2);
  });

  it.each([
    ['a picture', '//yt3.ggpht.com/ytc/abc=s88-c-k-c0x00ffffff-no-rj', 'present'],
    ['the default picture', '//yt3.ggpht.com/a/default-user=s88', 'absent'],
    ['no URL', undefined, 'unknown'],
  ])('with %s as avatar has the picture version of the record', async (_what, url, avatar) => {
    const renderer = { ...HIT, thumbnail: { thumbnails: [{ url }] } };
    replay.misbehave('search', answerJson(firstPage(section({ channelRenderer: renderer }))));
    const [hit] = (await search()).hits;
    const inRecord = pictureVersion(parsePicture('https://yt3.googleusercontent.com/ytc/abc', 'avatar') ?? null);
    expect([hit?.avatar, hit?.avatarVersion]).toEqual([avatar, avatar === 'present' ? inRecord : undefined]);
  });

  it('ends after three pages, even if upstream has more', async () => {
    replay.misbehave('search', answerJson(firstPage(section({ channelRenderer: HIT }), continuation('more'))));
    const second = await search((await search()).next);
    expect(second.next).toBeDefined();
    expect((await search(second.next)).next).toBeUndefined();
  });

  it.each([
    ['in the current renderer', continuation('the-token')],
    ['behind a button', { continuationItemRenderer: { button: { buttonRenderer: { command: token('the-token') } } } }],
    [
      'in a view model with a wrapped command',
      { continuationItemViewModel: { continuationCommand: { innertubeCommand: token('the-token') } } },
    ],
    ['in a view model with a bare command', { continuationItemViewModel: token('the-token') }],
    ['in a view model, twice nested', { continuationItemViewModel: { continuationCommand: token('the-token') } }],
  ])('continues with a token %s', async (_where, item) => {
    for (const answer of [
      firstPage(section({ channelRenderer: HIT }), item),
      firstPage(section({ channelRenderer: HIT }, item)),
      laterPage(section({ channelRenderer: HIT }), item),
    ]) {
      replay.misbehave('search', answerJson(answer), 1);
      const { next } = await search();
      replay.forgetCalls();
      await search(next);
      expect(replay.callsTo('search')[0]?.body?.continuation).toBe('the-token');
    }
  });

  it('ends with a later page that has no list', async () => {
    const { next } = await search();
    replay.misbehave('search', answerJson({ estimatedResults: '22', header: {}, topbar: {} }));
    expect(await search(next)).toEqual({ hits: [] });
  });

  it('fails if a page fails', async () => {
    const { next } = await search();
    replay.misbehave('search', answerStatus(500));
    await expect(search(next)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('skips unreadable results if others are readable', async () => {
    const unreadable = { ...HIT, title: {} };
    const page = firstPage(
      section({ channelRenderer: unreadable }, { channelRenderer: OTHER_HIT }, { videoRenderer: {} }),
    );
    replay.misbehave('search', answerJson(page));
    expect(titlesOf(await search())).toEqual(['Quiet']);
  });
});

const message = (text: string) => ({ messageRenderer: { text: { simpleText: text } } });
const promo = (text: string) => ({ backgroundPromoRenderer: { title: { runs: [{ text }] } } });

describe('a first page of a search', () => {
  it.each<[string, object]>([
    ['without a list, with no estimated results', { estimatedResults: '0' }],
    ['without a list, with a number of estimated results', { estimatedResults: 0 }],
    ['without a list, with a message', { contents: { sectionListRenderer: { contents: [message('No results')] } } }],
    ['without a list, with a notice', { contents: promo('No results found') }],
    ['with a list that has the notice only', firstPage(section(promo('No results found')))],
    ['with an empty list', firstPage()],
    ['with results of other kinds only', firstPage(section({ videoRenderer: {} }))],
  ])('%s is an empty list', async (_what, answer) => {
    replay.misbehave('search', answerJson(answer));
    expect(await search()).toEqual({ hits: [] });
  });

  it.each<[string, object]>([
    ['without a list', { header: {}, topbar: {} }],
    ['without a list, with estimated results', { estimatedResults: '149598' }],
    ['without a list, with an empty estimate', { estimatedResults: '' }],
    ['without a list, with another message', { contents: message('Sign in to confirm you’re not a bot') }],
    ['with channels in an unknown form', firstPage(section({ channelRenderer: { id: HIT.channelId } }))],
  ])('%s is an error, not an empty list', async (_what, answer) => {
    replay.misbehave('search', answerJson(answer));
    await expect(search()).rejects.toMatchObject({ code: 'upstream_invalid' });
  });
});
