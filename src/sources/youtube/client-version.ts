import { AppError, valueOrError } from '../../domain/errors.ts';
import { NEVER_ABORTED } from '../../lib/deadlines.ts';
import type { Gate } from '../../lib/http/gate.ts';
import { type ApiResponse, judgeServiceWorker } from './judge.ts';

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
interface WebClient {
  readonly version: string;
  /** Sent with the version in the body. YouTube rejects old versions with HTTP 400 only if they are in headers (2026-07). */
  readonly headers: Readonly<Record<string, string>>;
}

const BUILT_IN: WebClient = { version: BUILT_IN_CLIENT_VERSION, headers: {} };

/**
 * Returns a function that sends a call with the version of YouTube's web client. If YouTube refuses the built-in version, the call
 * is repeated with the version that YouTube names, which is used from then on if YouTube accepts it.
 *
 * @param gate of records
 */
export function createVersionedSend(gate: Gate, origin: string) {
  let client = BUILT_IN;
  let lookup: Promise<string | undefined> | undefined;

  return async (call: (client: WebClient) => Promise<ApiResponse>): Promise<ApiResponse> => {
    const used = client;
    const response = await call(used);
    if (used !== BUILT_IN || !isRefusalStatus(response.status)) return response;
    lookup ??= lookUpClientVersion(gate, origin);
    const version = await lookup;
    if (version === undefined) {
      lookup = undefined;
      return response;
    }
    const headers = { 'x-youtube-client-name': '1', 'x-youtube-client-version': version };
    const learned = { version, headers };
    const repeated = await call(learned);
    if (repeated.status === 200 || repeated.status === 404) client = learned;
    return repeated;
  };
}

/** True for the statuses of a call whose client version YouTube refuses. */
export function isRefusalStatus(status: number): boolean {
  return status === 400 || status === 401;
}

/** The data has about 1 KB. */
const MAX_BYTES = 65_536;

/** The current version of YouTube's web client, in the data of its service worker; `undefined` if YouTube does not name it. */
async function lookUpClientVersion(gate: Gate, origin: string): Promise<string | undefined> {
  const limits = { timeoutMs: CLIENT_VERSION_MS, maxBytes: MAX_BYTES, signal: NEVER_ABORTED };
  const request = { method: 'GET', url: `${origin}/sw.js_data`, headers: PAGE_HEADERS, ...limits } as const;
  const text = await valueOrError(gate.request(request, 'client version', judgeServiceWorker));
  // Nested lists: `[["yt.sw.adr",null,[[["en","US",…,"2.20260630.03.00",…` (2026-11).
  if (text instanceof AppError || text === undefined) return undefined;
  return /"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1];
}
