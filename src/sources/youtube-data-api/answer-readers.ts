import { type JsonObject, parseJsonObject } from '../youtube/json.ts';
import { type ApiError, readApiError } from './errors.ts';
import { readChannelList, readSearchList } from './parse.ts';

/*
 * Readers that reduce each kind of answer to what the service needs. A thread imports this module for long answers
 * (`BodyReader`), so the readers must have no state. `null` means that the answer is no JSON object.
 */

export const channels = listReader(readChannelList);
export const search = listReader(readSearchList);

interface ListAnswer<List> {
  readonly error: ApiError;
  /** `null` for another kind of answer. */
  readonly list: List | null;
}

function listReader<List>(read: (body: JsonObject) => List | null): (body: Uint8Array) => ListAnswer<List> | null {
  return (body) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : { error: readApiError(object), list: read(object) };
  };
}
