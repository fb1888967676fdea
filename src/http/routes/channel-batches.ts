import type { BatchResult, GetBatch } from '../../channels/channel-batches.ts';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import { AppError } from '../../domain/errors.ts';
import { findHandle, findIdentifier, type Identifier } from '../../domain/identifier.ts';
import { InvalidIdentifier } from '../request/advice.ts';
import { defineEndpoint, type Endpoint, type RequestContext } from '../request/context.ts';
import { BATCH_QUERY, InvalidParameter, MAX_BATCH } from '../request/parameters.ts';
import { keptForMs, publicFor } from '../response/fields.ts';
import { detailOf, PROBLEMS } from '../response/problems.ts';
import { jsonResponse, recordOf, type UrlForm } from '../response/serializers.ts';

/** The records of many channels in one response. */
export function channelBatchRoute(getBatch: GetBatch, urlForm: UrlForm): Endpoint {
  function itemOf(identifier: string, result: BatchResult, context: RequestContext): object {
    if (!(result instanceof AppError)) return { identifier, channel: recordOf(result.channel, context.base, urlForm) };
    const { code } = result;
    return { identifier, error: { status: PROBLEMS[code].status, code, detail: detailOf(result, context) } };
  }

  /** In the order of the request. */
  async function getResults(texts: readonly string[]): Promise<BatchResult[]> {
    const read = texts.map(readIdentifier);
    const found = await getBatch(read.flatMap((item) => (item instanceof AppError ? [] : [item])));
    return read.map((item) => (item instanceof AppError ? item : (found.shift() as BatchResult)));
  }

  return defineEndpoint({
    url: '/api/channels',
    id: 'Channels',
    tag: 'channels',
    summary: 'The metadata of up to 50 channels',
    description:
      'A result has the record as `channel`, or an `error`, also for an identifier that cannot be right. A batch counts as one ' +
      'request of the limit. At most ten channels without a fresh record are loaded. The rest have a stale record, or the error ' +
      '`upstream_unavailable`: request them again. `max-age` is the shortest of all results; a 5xx is `no-store`.',
    query: BATCH_QUERY,
    returns: 'Batch',
    example: ({ channelId, handle }) =>
      `/api/channels?ids=${channelId}${handle === null ? '' : `,${encodeURI(handle)}`}`,
    async respond({ query: { ids } }, context) {
      if (ids.length > MAX_BATCH) {
        throw new InvalidParameter(
          'ids',
          `The parameter "ids" has ${ids.length} values. At most ${MAX_BATCH} are allowed.`,
        );
      }
      const results = await getResults(ids);
      const items = ids.map((identifier, index) => itemOf(identifier, results[index] as BatchResult, context));
      return jsonResponse(overallOutcome(results), { results: items }, cacheControlOf(results));
    },
  });
}

/** The error concerns this item only. */
function readIdentifier(text: string): Identifier | InvalidIdentifier {
  const identifier = text.startsWith('@') ? findHandle(text) : findIdentifier(text, 'id');
  return identifier ?? new InvalidIdentifier(text, 'is neither a channel ID nor an @handle');
}

/** The shortest remaining time of all results. `no-store` after a failure, because the next request may get more. */
function cacheControlOf(results: readonly BatchResult[]): string {
  // The error of a blocked channel has no time, because it holds until the operator changes a setting.
  const leftMs = results
    .map((result) => (result instanceof AppError ? result.validForMs : keptForMs(result.outcome)))
    .filter((ms) => ms !== undefined);
  if (results.some(isFailure) || leftMs.length === 0) return 'no-store';
  return publicFor(Math.min(...leftMs));
}

function isFailure(result: BatchResult): boolean {
  return result instanceof AppError && PROBLEMS[result.code].status >= 500;
}

const FAILED: CacheOutcome = { kind: 'miss', ttlMs: 0, isCollapsed: false, isStored: false };
/** A batch has the first of these kinds that one of its results has: it is a hit only if nothing was loaded. */
const KINDS = ['miss', 'refreshed', 'stale', 'hit', 'catalog'] as const;

/** The outcome of the result that had most to be done for it. `undefined` if nothing was looked up. */
function overallOutcome(results: readonly BatchResult[]): CacheOutcome | undefined {
  const outcomes = results
    .map((result) => (isFailure(result) ? FAILED : result.outcome))
    .filter((outcome) => outcome !== undefined);
  const rankOf = ({ kind }: CacheOutcome) => KINDS.indexOf(kind);
  return outcomes.toSorted((one, other) => rankOf(one) - rankOf(other) || one.ttlMs - other.ttlMs)[0];
}
