import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient } from '../../lib/http/client.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import { withDeadline } from '../../lib/work.ts';
import { invalid } from './answers.ts';

/** A version of YouTube's web client: 2.YYYYMMDD.NN.NN (seen 2021 to 2026-07). */
export const CLIENT_VERSION = /^2\.\d{8}\.\d{2}\.\d{2}$/;

/** Header fields of every request to YouTube. */
export const PAGE_HEADERS = {
  // Without it some addresses get the consent page (seen from the EU, 2026-07).
  cookie: 'SOCS=CAE=',
  'accept-language': 'en-US,en;q=0.9',
} as const;

export interface LookupOptions {
  readonly http: HttpClient;
  readonly origin: string;
  readonly clock: Clock;
  /** For all places together. */
  readonly timeoutMs: number;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Where YouTube names the version: the data of the service worker (about 1 KB), then the home page. State of 2026-11. */
const PLACES = [
  { name: 'sw.js_data', path: '/sw.js_data', read: readServiceWorkerData },
  { name: 'page', path: '/', read: readPage },
];

/**
 * Looks up the current version of YouTube's web client. Never rejects: the service then keeps its version.
 *
 * @returns `version`: absent if no place named one; `problem`: why the places before it named none
 */
export async function lookUpClientVersion({ http, origin, clock, timeoutMs }: LookupOptions) {
  // Each place must leave time for the others.
  const placeMs = timeoutMs / PLACES.length;
  const problems: string[] = [];
  let version: string | undefined;
  for (const { name, path, read } of PLACES) {
    try {
      version = await withDeadline(clock, placeMs, new AbortController().signal, async (signal) => {
        const url = `${origin}${path}`;
        const limits = { timeoutMs: placeMs, maxBytes: MAX_BYTES, signal };
        const { status, body } = await http.request({ method: 'GET', url, headers: PAGE_HEADERS, ...limits });
        if (status !== 200) throw invalid(`status ${status}`);
        const found = read(body.toString('utf8'));
        if (found === undefined) throw invalid('no version in the answer');
        return compactCopy(found);
      });
      break;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  return { version, problem: problems.length === 0 ? undefined : problems.join('; ') };
}

/** `)]}'`, then nested lists: `[["yt.sw.adr",null,[[["en","US",…,"2.20260630.03.00",…`. */
function readServiceWorkerData(text: string): string | undefined {
  if (!text.trimStart().startsWith(")]}'")) return undefined;
  return /"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1];
}

/** `"INNERTUBE_CLIENT_NAME":"WEB","INNERTUBE_CLIENT_VERSION":"2.20260630.03.00"`, in any page. */
function readPage(text: string): string | undefined {
  // The mobile site has another client with versions of the same form.
  const name = /"INNERTUBE_CLIENT_NAME":\s{0,2}"([A-Z_]{1,40})"/.exec(text)?.[1] ?? 'WEB';
  if (name !== 'WEB') return undefined;
  return /"INNERTUBE_CLIENT_VERSION":\s{0,2}"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1];
}
