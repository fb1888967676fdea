import { AppError, valueOrError } from '../../domain/errors.ts';
import type { ClientVersionState } from '../../domain/source-status.ts';
import type { Clock } from '../../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../../lib/deadlines.ts';
import type { HttpClient, HttpResponse } from '../../lib/http/http-client.ts';
import type { Pause } from '../../lib/http/pause.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import { isMarkup } from '../json.ts';

/** A refused call to YouTube waits for a lookup of the client version. */
export const CLIENT_VERSION_MS = 3_000;

/** The version of 2026-07. Without headers that name it, YouTube also accepted a version 30 months old (2026-09). */
export const BUILT_IN_CLIENT_VERSION = '2.20260630.03.00';

/** Header fields of every request to YouTube. */
export const PAGE_HEADERS = {
  // Without it some addresses get the consent page (seen from the EU, 2026-07).
  cookie: 'SOCS=CAE=',
  'accept-language': 'en-US,en;q=0.9',
} as const;

/** The version that YouTube names. */
interface NamedVersion {
  /** Absent if no place named one. */
  readonly version?: string;
  /** Why the places before it named none. */
  readonly problem?: string | undefined;
}

/** How a call names YouTube's web client. */
export interface WebClient {
  /** Sent in the body. */
  readonly version: string;
  readonly origin: ClientVersionState['origin'];
  /** Sent with it. YouTube rejects old versions with HTTP 400 only if they are in headers (2026-07). */
  readonly headers: Readonly<Record<string, string>>;
}

export const BUILT_IN: WebClient = { version: BUILT_IN_CLIENT_VERSION, origin: 'built-in', headers: {} };

export function learnedClient(version: string): WebClient {
  const headers = { 'x-youtube-client-name': '1', 'x-youtube-client-version': version };
  return { version, origin: 'learned', headers };
}

/**
 * Chooses how calls name YouTube's web client: the built-in version without headers, or the version that YouTube names,
 * with headers. The version in use changes only when YouTube refuses it and accepts the other one.
 */
export interface ClientVersions {
  /**
   * Sends a call. If YouTube refuses the version in use, the call is repeated once with the other one.
   *
   * @param key names the channel or query, because a refusal may concern only that
   * @throws PausedError while these calls are paused
   */
  send(key: string, call: (client: WebClient) => Promise<HttpResponse>): Promise<HttpResponse>;
  /** True while calls are paused: then only HTML pages have the data. */
  isPaused(): boolean;
  /** For a caller that got a record as HTML. Pauses calls if YouTube refuses the version for more than one key. */
  pauseIfRefused(): void;
  /** True while YouTube refuses the version in use and accepts no other. */
  isRefused(): boolean;
  /** Looks up the version that YouTube names. Never rejects. */
  lookUp(): Promise<NamedVersion>;
  state(): ClientVersionState;
}

interface ClientVersionsOptions {
  readonly http: HttpClient;
  readonly origin: string;
  readonly clock: Clock;
  /** The pause of calls that name a client version. It begins when YouTube refuses them but sends the same data as HTML. */
  readonly calls: Pause;
  /** For a process that loads one channel only: one refusal is enough to try another version, and calls are never paused. */
  readonly isFirstRefusalEnough?: boolean | undefined;
  /** Called after a change: calls that failed with the former version may succeed now. */
  readonly onChange: (from: string, to: string) => void;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function createClientVersions(options: ClientVersionsOptions): ClientVersions {
  const { http, origin, clock, calls, isFirstRefusalEnough = false, onChange } = options;
  let client = BUILT_IN;
  let learned: WebClient | undefined;
  let learning: Promise<void> | undefined;
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  /** The first refusal since the last accepted call. */
  let firstRefusal: { readonly key: string; readonly atMs: number } | undefined;
  /** Refused in a trial since the last accepted call or lookup. */
  const rejected = new Set<WebClient>();
  /** YouTube refuses the version in use, and accepts no other. */
  let isRefused = false;

  function noteAccepted(accepted: WebClient): void {
    firstRefusal = undefined;
    rejected.clear();
    isRefused = false;
    calls.succeed();
    if (accepted === client) return;
    const from = client.version;
    client = accepted;
    onChange(from, accepted.version);
  }

  function pauseCalls(): void {
    const others = learned === undefined ? 'names no other version' : 'no other version is known to work';
    calls.fail(`YouTube refuses ${client.version}, and ${others}`);
  }

  function noteRefused(): void {
    isRefused = true;
    // The trial after a pause has failed.
    if (calls.state() !== undefined) pauseCalls();
  }

  /** One refusal may concern its channel. Another one, for another channel or a minute later, concerns the version. */
  function concernsVersion(key: string): boolean {
    const nowMs = clock.monotonic();
    firstRefusal ??= { key, atMs: nowMs };
    return isFirstRefusalEnough || key !== firstRefusal.key || nowMs - firstRefusal.atMs >= MINUTE_MS;
  }

  async function learn(): Promise<void> {
    if (clock.monotonic() - lookedUpAtMs < HOUR_MS) return;
    lookedUpAtMs = clock.monotonic();
    const { version } = await lookUpClientVersion({ http, origin, clock, timeoutMs: CLIENT_VERSION_MS });
    rejected.clear();
    if (version !== undefined && version !== learned?.version) learned = learnedClient(version);
  }

  /** The client for the one repetition of a refused call; `undefined` if none is worth a trial. */
  async function findOther(refused: WebClient): Promise<WebClient | undefined> {
    if (refused !== client) return client;
    learning ??= learn().finally(() => {
      learning = undefined;
    });
    await learning;
    if (refused !== client) return client;
    return [learned, BUILT_IN].find((other) => other !== undefined && other !== refused && !rejected.has(other));
  }

  return {
    async send(key, call) {
      calls.check();
      const used = client;
      const response = await call(used);
      if (isAccepted(response) && used === client) noteAccepted(used);
      if (!isRefusal(response) || !(used !== client || concernsVersion(key))) return response;
      const other = await findOther(used);
      if (other === undefined) {
        noteRefused();
        return response;
      }
      const repeated = await call(other);
      if (isAccepted(repeated)) noteAccepted(other);
      else if (isRefusal(repeated) && other !== client) {
        noteRefused();
        rejected.add(other);
      }
      return repeated;
    },

    isPaused: calls.isPaused,

    pauseIfRefused() {
      if (isRefused && !isFirstRefusalEnough) pauseCalls();
    },

    isRefused: () => isRefused,
    lookUp: () => lookUpClientVersion({ http, origin, clock, timeoutMs: CLIENT_VERSION_MS }),
    state: () => ({ version: client.version, origin: client.origin }),
  };
}

/** Blocks and failures are not API responses, whatever their status. */
function isAccepted({ status, body }: HttpResponse): boolean {
  return (status === 200 || status === 404) && !isMarkup(body);
}

function isRefusal({ status, body }: HttpResponse): boolean {
  return isRefusalStatus(status) && !isMarkup(body);
}

/** True for the statuses of a call whose client version YouTube refuses. */
export function isRefusalStatus(status: number): boolean {
  return status === 400 || status === 401;
}

type VersionLookupOptions = Pick<ClientVersionsOptions, 'http' | 'origin' | 'clock'> & { readonly timeoutMs: number };

const MAX_BYTES = 4 * 1024 * 1024;

/** Where YouTube names the version: the data of the service worker (about 1 KB), then the home page. State of 2026-11. */
const PLACES = [
  { name: 'sw.js_data', path: '/sw.js_data', find: findVersionInWorkerData },
  { name: 'page', path: '/', find: findVersionInPage },
];

/**
 * Looks up the current version of YouTube's web client. Never rejects: without a version, the service keeps its own.
 *
 * @param options `timeoutMs` is for all places together
 */
export async function lookUpClientVersion(options: VersionLookupOptions): Promise<NamedVersion> {
  const { http, origin, clock, timeoutMs } = options;
  // Each place must leave time for the others.
  const placeMs = timeoutMs / PLACES.length;
  const problems: string[] = [];
  for (const { name, path, find } of PLACES) {
    const found = await valueOrError(
      withDeadline(clock, placeMs, NEVER_ABORTED, async (signal) => {
        const url = `${origin}${path}`;
        const limits = { timeoutMs: placeMs, maxBytes: MAX_BYTES, signal };
        const { status, body } = await http.request({ method: 'GET', url, headers: PAGE_HEADERS, ...limits });
        if (status !== 200) throw new AppError('upstream_invalid', `status ${status}`);
        const version = find(body.toString('utf8'));
        if (version === undefined) throw new AppError('upstream_invalid', 'no version in the response');
        return compactCopy(version);
      }),
    );
    if (typeof found === 'string') return { version: found, problem: problems.join('; ') || undefined };
    problems.push(`${name}: ${found.message}`);
  }
  return { problem: problems.join('; ') };
}

/** `)]}'`, then nested lists: `[["yt.sw.adr",null,[[["en","US",…,"2.20260630.03.00",…`. */
function findVersionInWorkerData(text: string): string | undefined {
  if (!text.trimStart().startsWith(")]}'")) return undefined;
  return /"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1];
}

/** `"INNERTUBE_CLIENT_NAME":"WEB","INNERTUBE_CLIENT_VERSION":"2.20260630.03.00"`, in any page. */
function findVersionInPage(text: string): string | undefined {
  // The mobile site has another client with versions of the same form.
  const name = /"INNERTUBE_CLIENT_NAME":\s{0,2}"([A-Z_]{1,40})"/.exec(text)?.[1] ?? 'WEB';
  if (name !== 'WEB') return undefined;
  return /"INNERTUBE_CLIENT_VERSION":\s{0,2}"(2\.\d{8}\.\d{2}\.\d{2})"/.exec(text)?.[1];
}
