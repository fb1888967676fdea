import type { ExampleChannel } from '../channels/examples.ts';
import type { ResponseName } from './openapi/responses.ts';

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
