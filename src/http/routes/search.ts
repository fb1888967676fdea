import type { SearchService } from '../../services/search.ts';
import type { Endpoint } from '../request/context.ts';
import { parseQuery, readQuery, SEARCH_QUERY } from '../request/target.ts';
import { jsonResponse, type PictureUrlStyle, searchResultOf } from '../response/serializers.ts';

const DEFAULT_LIMIT = 20;

export function searchRoute(options: PictureUrlStyle & { readonly searches: SearchService }): Endpoint {
  return {
    url: '/api/search',
    async respond(_path, { target, base }) {
      const { q, limit = DEFAULT_LIMIT } = readQuery(SEARCH_QUERY, parseQuery(target.query));
      const { hits, outcome } = await options.searches.search(q, limit);
      const results = hits.map((hit) => searchResultOf(hit, base, options));
      return jsonResponse(outcome, { body: JSON.stringify({ query: q, results }) });
    },
  };
}
