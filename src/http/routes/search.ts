import type { SearchService } from '../../services/search.ts';
import type { Endpoint } from '../request/context.ts';
import { createQueryReader, parseQuery, SEARCH_QUERY } from '../request/target.ts';
import { entityTag } from '../response/response.ts';
import { jsonResponse, type PictureUrlStyle, searchResultOf } from '../response/serializers.ts';

interface SearchRouteOptions extends PictureUrlStyle {
  readonly searches: SearchService;
}

const DEFAULT_LIMIT = 20;

export function searchRoutes(options: SearchRouteOptions): Endpoint[] {
  const readQuery = createQueryReader(SEARCH_QUERY);
  const search: Endpoint<undefined, ReturnType<typeof readQuery>> = {
    url: '/api/search',
    parsePath: () => undefined,
    parseInput: (_path, { target }) => readQuery(parseQuery(target.query)),
    async respond({ q, limit = DEFAULT_LIMIT }, { base }) {
      const { hits, outcome } = await options.searches.search(q, limit);
      const results = hits.map((hit) => searchResultOf(hit, base, options));
      const body = JSON.stringify({ query: q, results });
      return jsonResponse(outcome, { body, etag: entityTag(body) });
    },
  };
  return [search];
}
