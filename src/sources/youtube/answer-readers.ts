import { readFeed } from './feed.ts';
import { firstAt, type JsonObject, parseJsonObject } from './json.ts';
import { readEndpoint, readPage, readPanel } from './readings.ts';
import { readSearchPage } from './search-page.ts';

/** What a reader made of an answer; `null` when that was no JSON object. */
export type Parsed<Value> = { readonly value: Value } | null;

/*
 * Every kind of answer, reduced to what the service needs of it. Long answers are read in a thread that imports this
 * module (`BodyReader`), so nothing here may depend on what happened before.
 */

/** The page of a channel, or its About tab. */
export const page = jsonReader(readPage);
/** The answer to an About token. */
export const panel = jsonReader(readPanel);
/** Where a page's address leads. */
export const endpoint = jsonReader(readEndpoint);
/** One page of search results. */
export const searchPage = jsonReader(readSearchPage);
/** Why a question was refused. */
export const refusal = jsonReader((body) => {
  const reason = firstAt(body, 'error.status');
  return typeof reason === 'string' ? reason.slice(0, MAX_REASON_CHARACTERS) : '';
});
/** A channel's RSS feed. */
export const feed = (body: Uint8Array) => readFeed(new TextDecoder().decode(body));

const MAX_REASON_CHARACTERS = 50;

function jsonReader<Value>(read: (body: JsonObject) => Value): (body: Uint8Array) => Parsed<Value> {
  return (body) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : { value: read(object) };
  };
}
