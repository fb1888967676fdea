import { AppError, valueOrError } from '../../domain/errors.ts';
import type { ClientVersionState } from '../../domain/source-status.ts';
import { NEVER_ABORTED } from '../../lib/deadlines.ts';
import type { HttpClient, HttpResponse } from '../../lib/http/http-client.ts';
import { isMarkup } from '../json.ts';

/** A refused call to YouTube waits for a lookup of the client version. */
export const CLIENT_VERSION_MS = 3_000;

/** The version of 2026-07. Without headers that name it, YouTube also accepted a version 30 months old (2026-09). */
const BUILT_IN_CLIENT_VERSION = '2.20260630.03.00';

/** Header fields of every request to YouTube. */
export const PAGE_HEADERS = {
  // Without it some addresses get the consent page (seen from the EU, 2026-07).
  cookie: 'SOCS=CAE=',
  'accept-language': 'en-US,en;q=0.9',
} as const;

/** How a call names YouTube's web client. */
export interface WebClient extends ClientVersionState {
  /** Sent with the version in the body. YouTube rejects old versions with HTTP 400 only if they are in headers (2026-07). */
  readonly headers: Readonly<Record<string, string>>;
}

const BUILT_IN: WebClient = { version: BUILT_IN_CLIENT_VERSION, origin: 'built-in', headers: {} };

interface ClientVersionOptions {
  readonly http: HttpClient;
  readonly origin: string;
}

/** The version of YouTube's web client that calls name: built in, or learned once. */
export function createClientVersion(options: ClientVersionOptions) {
  let client = BUILT_IN;
  let lookup: Promise<string | undefined> | undefined;

  return {
    /**
     * Sends a call. If YouTube refuses the built-in version, the call is repeated with the version that YouTube names, which is
     * used from then on if YouTube accepts it.
     */
    async send(call: (client: WebClient) => Promise<HttpResponse>): Promise<HttpResponse> {
      const used = client;
      const response = await call(used);
      if (used !== BUILT_IN || !isRefusalStatus(response.status) || isMarkup(response.body)) return response;
      lookup ??= lookUpClientVersion(options);
      const version = await lookup;
      if (version === undefined) {
        lookup = undefined;
        return response;
      }
      const headers = { 'x-youtube-client-name': '1', 'x-youtube-client-version': version };
      const learned: WebClient = { version, origin: 'learned', headers };
      const repeated = await call(learned);
      // Blocks and failures are not API responses, whatever their status.
      if ((repeated.status === 200 || repeated.status === 404) && !isMarkup(repeated.body)) client = learned;
      return repeated;
    },
    state: (): ClientVersionState => ({ version: client.version, origin: client.origin }),
  };
}

/** True for the statuses of a call whose client version YouTube refuses. */
export function isRefusalStatus(status: number): boolean {
  return status === 400 || status === 401;
}

/** The data has about 1 KB. */
const MAX_BYTES = 65_536;

/** The current version of YouTube's web client, in the data of its service worker; `undefined` if YouTube does not name it. */
async function lookUpClientVersion({ http, origin }: ClientVersionOptions): Promise<string | undefined> {
  const limits = { timeoutMs: CLIENT_VERSION_MS, maxBytes: MAX_BYTES, signal: NEVER_ABORTED };
  const call = http.request({ method: 'GET', url: `${origin}/sw.js_data`, headers: PAGE_HEADERS, ...limits });
  const response = await valueOrError(call);
  if (response instanceof AppError || response.status !== 200) return undefined;
  // `)]}'`, then nested lists: `[["yt.sw.adr",null,[[["en","US",…,"2.20260630.03.00",…` (2026-11).
  const text = response.body.toString('utf8');
  return text.trimStart().startsWith(")]}'") ? /"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1] : undefined;
}
