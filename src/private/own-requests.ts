import type { IncomingMessage } from 'node:http';
import { problem } from './responses.ts';

/**
 * A page of another origin can make a browser send a form or load an image here, but not with a custom header field: that
 * needs a preflight request, which this listener refuses.
 */
const OWN_REQUEST_FIELD = 'x-pennant-console';

/**
 * Whether the request comes from a page of this listener, or from a program. Browsers send `Sec-Fetch-Site` to HTTPS and
 * to this machine only, and no `Origin` with a GET to the page's own origin.
 */
export function isOwnRequest({ headers }: IncomingMessage): boolean {
  const { host, origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  const isSameOrigin = site === 'same-origin' && (origin === undefined || URL.parse(origin)?.host === host);
  return headers[OWN_REQUEST_FIELD] !== undefined && isSameOrigin;
}

/** The response to any other request. */
export const NOT_OWN_REQUEST = problem(
  403,
  `Only pages of this listener and programs may do this, with the field ${OWN_REQUEST_FIELD}.`,
);
