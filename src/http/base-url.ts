import { AppError } from '../domain/errors.ts';

export interface BaseUrlOptions {
  /** The operator's origins; none: each request's own. */
  readonly baseUrls: readonly string[];
}

/** A host name or address with perhaps a port; anything else in `Host` could end up in a URL that others are shown. */
const AUTHORITY = /^(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

export interface BaseUrls {
  /**
   * The origin that URLs in the answer start with.
   *
   * @param authority what the client calls the service: `Host`, or the authority of an absolute target
   * @throws AppError `malformed_request` when it has to be used and is no host name
   */
  baseFor(authority: string, scheme: 'http' | 'https'): string;
}

export function createBaseUrls({ baseUrls }: BaseUrlOptions): BaseUrls {
  const byAuthority = new Map(baseUrls.map((baseUrl) => [new URL(baseUrl).host, baseUrl]));
  const first = baseUrls[0];
  return {
    baseFor(authority, scheme) {
      if (first !== undefined) return byAuthority.get(authority.toLowerCase()) ?? first;
      if (AUTHORITY.test(authority)) return `${scheme}://${authority.toLowerCase()}`;
      throw new AppError('malformed_request', 'The Host field is not a host name with perhaps a port.');
    },
  };
}
