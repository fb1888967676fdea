import { firstAt, type JsonObject, parseJsonObject } from '../json.ts';
import { readFeed } from './feed.ts';
import { readInitialData } from './initial-data.ts';
import { readEndpoint, readPage, readPanel } from './readings.ts';
import { readSearchPage } from './search-page.ts';

const MAX_REASON_CHARACTERS = 50;

/** Readers that reduce each kind of response to what the service needs; `null` if a response is no JSON object. */
export const RESPONSE_READERS = {
  /** The page of a channel, or its About tab. */
  page: jsonReader(readPage),
  /** The response to an About token. */
  panel: jsonReader(readPanel),
  /** The HTML page of a channel, which has the content of its page and of its About panel. */
  aboutPage(html: Uint8Array) {
    const data = readInitialData(html);
    return data === undefined ? null : readPage(data);
  },
  /** The target of a page address. */
  endpoint: jsonReader(readEndpoint),
  searchPage: jsonReader(readSearchPage),
  /** Why a request was refused. */
  refusal: jsonReader((body) => {
    const reason = firstAt(body, 'error.status');
    return typeof reason === 'string' ? reason.slice(0, MAX_REASON_CHARACTERS) : '';
  }),
  /** A channel's RSS feed. */
  feed: (body: Uint8Array) => readFeed(new TextDecoder().decode(body)),
} as const;

function jsonReader<Value>(read: (body: JsonObject) => Value): (body: Uint8Array) => Value | null {
  return (body) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : read(object);
  };
}
