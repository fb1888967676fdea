import type { ExpectedValues } from './expected-values.ts';
import { type IndexedAnswer, jsonAnswer, type ReplayAnswer } from './replay-answers.ts';

type Filter = (answer: IndexedAnswer) => boolean;

/** What an index's answers are: told by their requests and by what is expected of them. */
export const isOfDataApi: Filter = ({ request }) => request.url.includes('googleapis.com');
export const isError: Filter = ({ expected }) => 'error' in (expected as object);
export const isChannelPage: Filter = (answer) => answer.request.body?.browseId !== undefined && !isError(answer);
export const isPanel: Filter = ({ request, expected }) =>
  request.url.includes('/browse') && request.body?.continuation !== undefined && 'channelId' in (expected as object);
export const isResolution: Filter = (answer) => answer.request.url.includes('/resolve_url') && !isError(answer);
export const isFirstSearchPage: Filter = ({ request }) => request.body?.query !== undefined;
export const isLaterSearchPage: Filter = ({ request }) =>
  request.url.includes('/youtubei/v1/search') && request.body?.continuation !== undefined;
export const isFeed: Filter = ({ request }) => request.url.includes('/feeds/');

/** A recorded hop comes without the answer that it leads to. */
export function targetOfHop({ expected }: IndexedAnswer): ReplayAnswer[] {
  const { next, finalChannelId } = expected as ExpectedValues;
  if (next === undefined) return [];
  const endpoint = { browseEndpoint: { browseId: finalChannelId } };
  return [jsonAnswer('navigation/resolve_url', { url: next }, { endpoint })];
}

/** A recorded feed comes without its channel's page. */
export function pageOfFeed({ expected }: IndexedAnswer): ReplayAnswer {
  const { channelId, title = 'A channel' } = expected as ExpectedValues;
  const metadata = { channelMetadataRenderer: { externalId: channelId, title } };
  return jsonAnswer('browse', { browseId: channelId }, { metadata });
}

const MAX_HANDLE_CHARACTERS = 30;

/** A recorded handle that does not exist is longer than handles can be: the service would not even ask for it. */
export function withHandleThatCanBeOne(answer: IndexedAnswer): IndexedAnswer {
  const [start, handle = ''] = String(answer.request.body?.url).split('/@');
  if (handle.length <= MAX_HANDLE_CHARACTERS) return answer;
  const url = `${start}/@${handle.slice(0, MAX_HANDLE_CHARACTERS)}`;
  return { ...answer, request: { ...answer.request, body: { url } } };
}
