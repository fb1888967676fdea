import { type JsonObject, parseJsonObject } from '../youtube/json.ts';
import { readApiError } from './errors.ts';
import { readChannelList, readSearchList } from './parse.ts';

/*
 * Readers that reduce each kind of answer to what the service needs. A thread imports this module for long answers
 * (`BodyReader`), so the readers must have no state. `null` means that the answer is no JSON object.
 */

export const channels = listReader(readChannelList);
export const search = listReader(readSearchList);

function listReader<List>(read: (body: JsonObject) => List | null) {
  return (body: Uint8Array) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : { error: readApiError(object), list: read(object) };
  };
}
