import { expect } from 'vitest';
import type { Channel, ChannelLink } from '../../src/domain/channel.ts';
import { CHANNEL_FIELDS } from '../../src/sources/youtube/fields.ts';
import { type IndexedResponse, jsonResponse, type ReplayResponse, readResponses } from './replay-responses.ts';

type Filter = (response: IndexedResponse) => boolean;

/** The kinds of responses in an index, by their requests and expected values. */
export const isOfDataApi: Filter = ({ request }) => request.url.includes('googleapis.com');
export const isError: Filter = ({ expected }) => 'error' in (expected as object);
export const isChannelPage: Filter = (response) => response.request.body?.browseId !== undefined && !isError(response);
export const isPanel: Filter = ({ request, expected }) =>
  request.url.includes('/browse') && request.body?.continuation !== undefined && 'channelId' in (expected as object);
/** The response for a handle or a user name. A bare path is requested only if one of these led to it. */
export const isResolution: Filter = (response) =>
  response.request.url.includes('/resolve_url') &&
  /^https:\/\/[^/]+\/(?:@|user\/)/.test(String(response.request.body?.url)) &&
  !isError(response);
export const isFirstSearchPage: Filter = ({ request }) => request.body?.query !== undefined;
export const isFeed: Filter = ({ request }) => request.url.includes('/feeds/');

/** The responses of an index in one common form. */
export function readIndexedResponses(directory: string): IndexedResponse[] {
  return readResponses(directory).map(withHandleThatCanBeOne).map(withCount);
}

function withCount(response: IndexedResponse): IndexedResponse {
  const { channels: count, ...expected } = response.expected as ExpectedValues;
  return count === undefined ? response : { ...response, expected: { ...expected, count } };
}

/** Only this response about the channel, because there may be responses in layouts of several years. */
export function withoutOthersOfChannel(
  response: IndexedResponse,
  responses: readonly IndexedResponse[],
): IndexedResponse[] {
  const browseId = response.request.body?.browseId;
  return responses.filter(
    (other) => other === response || browseId === undefined || other.request.body?.browseId !== browseId,
  );
}

/** A recorded redirect may lack the response of its target. */
export function targetOfHop({ expected }: IndexedResponse): ReplayResponse[] {
  const { next, finalChannelId } = expected as ExpectedValues;
  if (next === undefined || finalChannelId === undefined) return [];
  const endpoint = { browseEndpoint: { browseId: finalChannelId } };
  return [jsonResponse('navigation/resolve_url', { url: next }, { endpoint })];
}

/** The final target of a name. */
export function finalChannelId({ expected }: IndexedResponse, responses: readonly IndexedResponse[]): unknown {
  const { channelId, finalChannelId: final, next } = expected as ExpectedValues;
  const following = responses.find(({ request }) => next !== undefined && request.body?.url === next);
  return channelId ?? final ?? (following && finalChannelId(following, responses));
}

const MAX_HANDLE_CHARACTERS = 30;

/** A recorded unknown handle is longer than handles may be, so the service would not request it. */
function withHandleThatCanBeOne(response: IndexedResponse): IndexedResponse {
  const [start, handle = ''] = String(response.request.body?.url).split('/@');
  if (handle.length <= MAX_HANDLE_CHARACTERS) return response;
  const url = `${start}/@${handle.slice(0, MAX_HANDLE_CHARACTERS)}`;
  return { ...response, request: { ...response.request, body: { url } } };
}

/** The expected values of a response in an `index.json`: those of a record or a search, an error, or the next request. */
export type ExpectedValues = Readonly<Record<string, unknown>>;

const RECORD_FIELDS = CHANNEL_FIELDS.filter((field) => !['links', 'banner', 'avatar'].includes(field));

/** Asserts every expected value that is a field of the record. */
export function expectRecord(channel: Channel, expected: ExpectedValues): void {
  expectTexts(channel, expected);
  const { banner, avatar } = expectedImages(expected);
  if (banner !== undefined) expect(channel.banner?.key ?? null, 'banner').toBe(banner);
  if (avatar !== undefined) expect(channel.avatar?.key, 'avatar').toBe(avatar);
}

/** The same of everything in a record that is not an image; also of one that got a JSON response. */
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
export function expectedImages({ bannerBase, avatarBase, avatarUrl }: ExpectedValues) {
  const avatar = avatarBase ?? avatarUrl;
  return {
    banner: bannerBase as string | null | undefined,
    avatar: typeof avatar === 'string' ? avatar.split('=')[0] : undefined,
  };
}
