import { firstAt, type JsonObject, parseJsonObject } from '../json.ts';
import { readFeed } from './feed.ts';
import { readInitialData } from './initial-data.ts';
import { readEndpoint, readPage, readPanel } from './readings.ts';
import { readSearchPage } from './search-page.ts';

/*
 * Readers that reduce each kind of response to what the service needs; `null` if a response is no JSON object. A thread
 * imports this module for long responses (`BodyReader`), so the readers must have no state.
 */

/** The page of a channel, or its About tab. */
export const page = jsonReader(readPage);
/** The response to an About token. */
export const panel = jsonReader(readPanel);
/** The HTML page of a channel, which has the content of its page and of its About panel. */
export function aboutPage(html: Uint8Array) {
  const data = readInitialData(html);
  return data === undefined ? null : readPage(data);
}
/** The target of a page address. */
export const endpoint = jsonReader(readEndpoint);
/** One page of search results. */
export const searchPage = jsonReader(readSearchPage);
/** Why a request was refused. */
export const refusal = jsonReader((body) => {
  const reason = firstAt(body, 'error.status');
  return typeof reason === 'string' ? reason.slice(0, MAX_REASON_CHARACTERS) : '';
});
/** A channel's RSS feed. */
export const feed = (body: Uint8Array) => readFeed(new TextDecoder().decode(body));

const MAX_REASON_CHARACTERS = 50;

function jsonReader<Value>(read: (body: JsonObject) => Value): (body: Uint8Array) => Value | null {
  return (body) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : read(object);
  };
}
