import { expect } from 'vitest';
import type { Channel, ChannelLink } from '../../src/domain/channel.ts';
import { CHANNEL_FIELDS } from '../../src/sources/youtube/layouts.ts';
import { type IndexedAnswer, jsonAnswer, type ReplayAnswer, readAnswers } from './replay-answers.ts';

type Filter = (answer: IndexedAnswer) => boolean;

/** The kinds of answers in an index, by their requests and expected values. */
export const isOfDataApi: Filter = ({ request }) => request.url.includes('googleapis.com');
export const isError: Filter = ({ expected }) => 'error' in (expected as object);
export const isChannelPage: Filter = (answer) => answer.request.body?.browseId !== undefined && !isError(answer);
export const isPanel: Filter = ({ request, expected }) =>
  request.url.includes('/browse') && request.body?.continuation !== undefined && 'channelId' in (expected as object);
/** The answer for a handle or a user name. A bare path is requested only if one of these led to it. */
export const isResolution: Filter = (answer) =>
  answer.request.url.includes('/resolve_url') &&
  /^https:\/\/[^/]+\/(?:@|user\/)/.test(String(answer.request.body?.url)) &&
  !isError(answer);
export const isFirstSearchPage: Filter = ({ request }) => request.body?.query !== undefined;
export const isFeed: Filter = ({ request }) => request.url.includes('/feeds/');

/** The answers of an index in one common form. */
export function readIndexedAnswers(directory: string): IndexedAnswer[] {
  const answers = readAnswers(directory).map(withHandleThatCanBeOne).map(withCount);
  return answers.map((answer) => withTokenOfFirstPage(answer, answers));
}

function withCount(answer: IndexedAnswer): IndexedAnswer {
  const { channels: count, ...expected } = answer.expected as ExpectedValues;
  return count === undefined ? answer : { ...answer, expected: { ...expected, count } };
}

/** A later page may name the search that it belongs to instead of the token that led to it. */
function withTokenOfFirstPage(answer: IndexedAnswer, answers: readonly IndexedAnswer[]): IndexedAnswer {
  const [, query] = /^of search "(.*)"$/.exec(String(answer.request.body?.continuation)) ?? [];
  const firstPage = answers.find(({ request }) => query !== undefined && request.body?.query === query);
  const [, continuation] = /"continuationCommand":\s*\{\s*"token":\s*"([^"]+)"/.exec(firstPage?.text ?? '') ?? [];
  return continuation === undefined ? answer : { ...answer, request: { ...answer.request, body: { continuation } } };
}

/** Only this answer about the channel, because there may be answers in layouts of several years. */
export function withoutOthersOfChannel(answer: IndexedAnswer, answers: readonly IndexedAnswer[]): IndexedAnswer[] {
  const browseId = answer.request.body?.browseId;
  return answers.filter(
    (other) => other === answer || browseId === undefined || other.request.body?.browseId !== browseId,
  );
}

/** A recorded redirect may lack the answer of its target. */
export function targetOfHop({ expected }: IndexedAnswer): ReplayAnswer[] {
  const { next, finalChannelId } = expected as ExpectedValues;
  if (next === undefined || finalChannelId === undefined) return [];
  const endpoint = { browseEndpoint: { browseId: finalChannelId } };
  return [jsonAnswer('navigation/resolve_url', { url: next }, { endpoint })];
}

/** The final target of a name. */
export function finalChannelId({ expected }: IndexedAnswer, answers: readonly IndexedAnswer[]): unknown {
  const { channelId, finalChannelId: final, next } = expected as ExpectedValues;
  const following = answers.find(({ request }) => next !== undefined && request.body?.url === next);
  return channelId ?? final ?? (following && finalChannelId(following, answers));
}

const MAX_HANDLE_CHARACTERS = 30;

/** A recorded unknown handle is longer than handles may be, so the service would not request it. */
function withHandleThatCanBeOne(answer: IndexedAnswer): IndexedAnswer {
  const [start, handle = ''] = String(answer.request.body?.url).split('/@');
  if (handle.length <= MAX_HANDLE_CHARACTERS) return answer;
  const url = `${start}/@${handle.slice(0, MAX_HANDLE_CHARACTERS)}`;
  return { ...answer, request: { ...answer.request, body: { url } } };
}

/** The expected values of an answer in an `index.json`: those of a record or a search, an error, or the next request. */
export type ExpectedValues = Readonly<Record<string, unknown>>;

const RECORD_FIELDS = CHANNEL_FIELDS.filter((field) => !['links', 'banner', 'avatar'].includes(field));

/** Asserts every expected value that is a field of the record; the panel's values go before the page's. */
export function expectRecord(channel: Channel, page: ExpectedValues, panel: ExpectedValues = {}): void {
  const expected = { ...page, ...panel };
  expectTexts(channel, expected);
  const { banner, avatar } = expectedPictures(expected);
  if (banner !== undefined) expect(channel.banner?.key ?? null, 'banner').toBe(banner);
  if (avatar !== undefined) expect(channel.avatar?.key, 'avatar').toBe(avatar);
}

/** The same of everything in a record that is not a picture; also of one that was answered as JSON. */
export function expectTexts(record: object, expected: ExpectedValues): void {
  const found = record as Record<string, unknown>;
  for (const field of RECORD_FIELDS) {
    if (field in expected) expect(found[field], field).toEqual(expected[field]);
  }
  // A page's structured data lists targets only: they are no links of a record.
  if (!Array.isArray(expected.links) || !expected.links.every((link: ChannelLink) => 'title' in link)) return;
  const links = expected.links.map(({ title, url }: ChannelLink) => ({ title: title.trim(), url: new URL(url).href }));
  expect(found.links, 'links').toEqual(links);
}

/** The upstream names of the originals: `null` if the channel has none, `undefined` if they are unknown. */
export function expectedPictures({ bannerBase, avatarBase, avatarUrl }: ExpectedValues) {
  const avatar = avatarBase ?? avatarUrl;
  return {
    banner: bannerBase as string | null | undefined,
    avatar: typeof avatar === 'string' ? avatar.split('=')[0] : undefined,
  };
}
