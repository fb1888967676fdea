import { type JsonObject, parseJsonObject } from '../youtube/json.ts';
import { type ApiError, readApiError } from './errors.ts';
import { readChannelList, readSearchList } from './parse.ts';

/*
 * Every kind of answer, reduced to what the service needs of it. Long answers are read in a thread that imports this
 * module (`BodyReader`), so nothing here may depend on what happened before. `null` stands for no JSON object.
 */

export const channels = listReader(readChannelList);
export const search = listReader(readSearchList);

interface ListAnswer<List> {
  readonly error: ApiError;
  /** `null` where the answer is another one. */
  readonly list: List | null;
}

function listReader<List>(read: (body: JsonObject) => List | null): (body: Uint8Array) => ListAnswer<List> | null {
  return (body) => {
    const object = parseJsonObject(body);
    return object === undefined ? null : { error: readApiError(object), list: read(object) };
  };
}
