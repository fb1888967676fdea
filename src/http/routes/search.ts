import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../lib/clock.ts';
import type { SearchService } from '../../services/search.ts';
import { answersOf, SEARCH_RESULTS, SOURCE_ERRORS } from '../openapi/schemas.ts';
import { createQueryReader, SEARCH_QUERY } from '../request/params.ts';
import { entityTag } from '../response/entity-tag.ts';
import { lookedUpJson } from '../response/json-answer.ts';
import { searchResultOf } from '../response/serializers.ts';
import type { UrlForm } from '../response/urls.ts';
import { addEndpoint } from './endpoint.ts';

export interface SearchRouteDeps {
  readonly clock: Clock;
  readonly searches: SearchService;
  readonly urlForm: UrlForm;
}

const DEFAULT_LIMIT = 20;

export function addSearchRoute(app: FastifyInstance, { clock, searches, urlForm }: SearchRouteDeps): void {
  const readQuery = createQueryReader(SEARCH_QUERY);
  addEndpoint(
    { app, clock },
    {
      url: '/api/search',
      schema: {
        summary: 'Find channels',
        description:
          'A channel ID, an `@handle` or a channel page’s URL as `q` finds that very channel first. Kept for ten minutes.',
        querystring: SEARCH_QUERY,
        response: answersOf(SEARCH_RESULTS, SOURCE_ERRORS),
      },
      parsePath: () => undefined,
      async answer(_path, request) {
        const { q, limit = DEFAULT_LIMIT } = readQuery(request.query as Record<string, unknown>);
        const { base } = request.exchange;
        const { hits, outcome } = await searches.search(q, limit);
        const results = hits.map((hit) => searchResultOf(hit, base, urlForm));
        const body = JSON.stringify({ query: q, results });
        return lookedUpJson(request, outcome, { body, etag: entityTag(body) });
      },
    },
  );
}
