import type { Purge } from '../cache/purge.ts';
import { OperatorError } from '../domain/errors.ts';
import { identifiersOfName } from '../domain/pasted.ts';
import { isOwnRequest, NOT_OWN_REQUEST } from './own-requests.ts';
import { type PrivateHandler, problem } from './responses.ts';

/** `POST /purge?channel=…` with a channel ID, an @handle or the URL of a channel page. */
export function createPurgeHandler(purge: Purge): PrivateHandler {
  return async (request) => {
    if (!isOwnRequest(request)) return NOT_OWN_REQUEST;
    const [, query] = (request.url ?? '').split('?', 2);
    const identifiers = identifiersOfName(new URLSearchParams(query).get('channel') ?? '');
    if (identifiers.length === 0) return problem(400, 'Name a channel ID, an @handle or a channel page’s URL.');
    try {
      const purged = await purge.purgeChannel(identifiers);
      return purged === undefined ? problem(404, 'Nothing is stored under that name.') : { body: purged };
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      return problem(503, `${error.message}.`);
    }
  };
}
