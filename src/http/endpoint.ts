import type { ExampleChannel } from '../services/examples.ts';
import type { ResponseName } from './openapi/responses.ts';
import type { PathParameters, PublicResponse, RequestContext } from './request/context.ts';
import type { Parameters, Values } from './request/parameters.ts';

/** Groups of endpoints in the OpenAPI document. */
export const TAGS = {
  channels: 'Metadata of channels as JSON, and the search for them.',
  images: 'Banners, avatars and badges as images.',
  service: 'What this instance offers.',
} as const;

export interface PathParameter {
  readonly description: string;
  /** A value that works with the sample catalog. */
  readonly example: string;
  /** A regular expression. */
  readonly pattern?: string;
}

/** What the index, the OpenAPI document and docs/api.md say of an endpoint. */
export interface EndpointDescription {
  /** What the path returns, as part of a name. Generated clients call the operation `get…`. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** A few words. */
  readonly summary: string;
  /** Whole sentences. */
  readonly description: string;
  readonly pathParameters?: Readonly<Record<string, PathParameter>>;
  /** The response with status 200. */
  readonly returns: ResponseName;
  /** The path of an example. `undefined` if the channel has nothing to show. Default: no example in the index. */
  readonly example?: (channel: ExampleChannel) => string | undefined;
}

/** One path of the public listener, for GET, HEAD and OPTIONS: its parameters, its handler and its description. */
export interface Endpoint<Path = unknown, Query extends Parameters = Parameters> extends EndpointDescription {
  /** In find-my-way's notation: `/api/channel/:identifier`. */
  readonly url: string;
  /** The parameters in the query. They are validated before `respond` is called. */
  readonly query?: Query;
  /** How long after the request's arrival a response must be there, in milliseconds. Default: `RESPONSE_MS`. */
  readonly responseMs?: number;
  /** False if an equal request within the same second needs a new response. */
  readonly isRepeatable: boolean;
  /** Reads the path only. Preflights get its errors too. */
  parsePath?(parameters: PathParameters): Path;
  respond(
    request: { readonly path: Path; readonly query: Values<Query> },
    context: RequestContext,
  ): PublicResponse | Promise<PublicResponse>;
  /** Responds to an error of `parsePath`, of the query or of `respond`. Default: a problem response. */
  respondToError?(error: unknown, context: RequestContext): Promise<PublicResponse>;
}

/** Checks that the handler takes what the path and the query are read to. */
export function defineEndpoint<Path, Query extends Parameters>(
  endpoint: Omit<Endpoint<Path, Query>, 'isRepeatable'> & { readonly isRepeatable?: boolean },
): Endpoint {
  return { isRepeatable: true, ...endpoint } as unknown as Endpoint;
}
