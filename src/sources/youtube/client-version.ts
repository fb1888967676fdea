import { AppError, orError } from '../../domain/errors.ts';
import type { ClientVersionState } from '../../domain/source-status.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient, HttpResponse } from '../../lib/http/client.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import { type Checked, fields, nullOr, numberIn, parseJson, text } from '../../lib/shape.ts';
import { withDeadline } from '../../lib/work.ts';
import type { KeptText, Lease } from '../source.ts';
import { isMarkup } from './json.ts';

/** Accepted in 2026-11. YouTube rejects versions older than about a year and a half with HTTP 400. */
export const BUILT_IN_CLIENT_VERSION = '2.20260630.03.00';

/** A version of YouTube's web client: 2.YYYYMMDD.NN.NN (seen 2021 to 2026-07). */
const CLIENT_VERSION = /^2\.\d{8}\.\d{2}\.\d{2}$/;

/** Header fields of every request to YouTube. */
export const PAGE_HEADERS = {
  // Without it some addresses get the consent page (seen from the EU, 2026-07).
  cookie: 'SOCS=CAE=',
  'accept-language': 'en-US,en;q=0.9',
} as const;

export type ClientVersions = ReturnType<typeof createClientVersions>;

export interface ClientVersionsOptions {
  /** The operator's version, which is never changed; `undefined`: the version is learned. */
  readonly setting: string | undefined;
  readonly http: HttpClient;
  readonly origin: string;
  readonly clock: Clock;
  readonly kept: KeptText;
  readonly lease: Lease;
  /** Called after a change: calls that failed with the former version may succeed now. */
  readonly onChange: (from: string, to: string) => void;
}

type VersionedCall = (clientVersion: string) => Promise<HttpResponse>;

const VERSION = nullOr(text(CLIENT_VERSION));
const TIME = numberIn(0, Number.MAX_SAFE_INTEGER);

/** The stored state, shared by all instances. Times are milliseconds since 1970; 0: never. */
const isKept = fields({
  /** `null`: the built-in version. */
  current: VERSION,
  /** The previous version. */
  earlier: VERSION,
  /** The version that YouTube named last. */
  learned: VERSION,
  /** A learned version that was refused while an earlier one worked. It is not used again automatically. */
  rejected: VERSION,
  learnedAtMs: TIME,
  askedAtMs: TIME,
  writtenAtMs: TIME,
});
type Kept = Checked<typeof isKept>;

const NOTHING_KEPT: Kept = {
  current: null,
  earlier: null,
  learned: null,
  rejected: null,
  learnedAtMs: 0,
  askedAtMs: 0,
  writtenAtMs: 0,
};

const MINUTE_MS = 60_000;
const RENEW_AFTER_MS = 24 * 60 * MINUTE_MS;
const RETRY_AFTER_MS = 60 * MINUTE_MS;
/** The pause between two lookups for any reason. */
const MIN_PAUSE_MS = 5 * MINUTE_MS;
/** After this many refusals within the pause a version is not tried until its end. A record takes three calls. */
const MAX_TRIALS = 20;
/** A later time was written before the clock was set back, and would prevent lookups. */
const MAX_CLOCK_SKEW_MS = 5 * MINUTE_MS;
/** A single refusal may concern the channel. */
const MIN_REFUSALS = 3;

/**
 * Chooses the version of YouTube's web client for requests.
 *
 * Learns the version once a day and when a call is refused. A learned version stays in use until it is refused. If an
 * earlier version is accepted then, that one is used again. A failed lookup changes nothing.
 */
export function createClientVersions(options: ClientVersionsOptions) {
  const { setting, http, origin, clock, kept: shared, lease, onChange } = options;
  let kept = NOTHING_KEPT;
  let loading: Promise<unknown> | undefined;
  let renewing: Promise<void> | undefined;
  let lastLookupAtMs = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** Refused retries since `trialsSinceMs`, by version: at most one entry for each known version, of which there are three. */
  const trials = new Map<string, number>();
  let trialsSinceMs = Number.NEGATIVE_INFINITY;

  const current = () => setting ?? kept.current ?? BUILT_IN_CLIENT_VERSION;

  function take(next: Kept): void {
    const from = current();
    kept = next;
    const to = current();
    if (from === to) return;
    refusals = 0;
    trials.clear();
    onChange(from, to);
  }

  function write(changes: Partial<Kept>): Promise<void> {
    // Later than the state it replaces, even if this instance's clock is behind.
    take({ ...kept, ...changes, writtenAtMs: Math.max(clock.now(), kept.writtenAtMs + 1) });
    return shared.write(JSON.stringify(kept));
  }

  /** @returns true if the stored state is older than this one: it could not be written, or was cleared */
  async function readShared(): Promise<boolean> {
    const found = parseJson((await shared.read()) ?? '', isKept);
    const soonMs = clock.now() + MAX_CLOCK_SKEW_MS;
    const isPast = found !== undefined && Math.max(found.learnedAtMs, found.askedAtMs, found.writtenAtMs) <= soonMs;
    const storedAtMs = isPast ? found.writtenAtMs : 0;
    if (isPast && storedAtMs > kept.writtenAtMs) take(found);
    return storedAtMs < kept.writtenAtMs;
  }

  function switchTo(version: string): Promise<void> {
    const from = current();
    const rejected = version === kept.learned ? null : from;
    return write({ current: version === BUILT_IN_CLIENT_VERSION ? null : version, earlier: from, rejected });
  }

  async function renew(): Promise<void> {
    await readShared();
    if (clock.monotonic() - lastLookupAtMs < MIN_PAUSE_MS) return;
    if (!(await lease.tryAcquire('youtube-client-version', MIN_PAUSE_MS))) return;
    lastLookupAtMs = clock.monotonic();
    const { version } = await lookUpClientVersion({ http, origin, clock, timeoutMs: TIME_LIMITS_MS.clientVersion });
    const now = clock.now();
    await write({ askedAtMs: now, ...(version === undefined ? {} : { learned: version, learnedAtMs: now }) });
  }

  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  function trialsOf(version: string): number {
    if (clock.monotonic() - trialsSinceMs >= MIN_PAUSE_MS) {
      trials.clear();
      trialsSinceMs = clock.monotonic();
    }
    return trials.get(version) ?? 0;
  }

  function knownVersions(): string[] {
    return [kept.learned, kept.earlier, BUILT_IN_CLIENT_VERSION].filter((version) => version !== null);
  }

  /** Learns from the response: HTTP 400 is a refusal of the version, any other API response accepts it. */
  async function sendWith(version: string, call: VersionedCall): Promise<HttpResponse> {
    const response = await call(version);
    const { status, body } = response;
    const isCurrent = version === current();
    // Blocks and failures are not API responses, whatever their status.
    const isAccepted = (status === 200 || status === 404) && !isMarkup(body);
    if (status === 400 && isCurrent) refusals += 1;
    else if (status === 400) trials.set(version, trialsOf(version) + 1);
    else if (isAccepted && isCurrent) refusals = 0;
    else if (isAccepted && knownVersions().includes(version)) void switchTo(version);
    return response;
  }

  /** After a refusal: the version for one retry; `undefined` if no other version is worth a try. */
  async function findOther(refused: string): Promise<string | undefined> {
    if (setting !== undefined) return undefined;
    if (refused === current()) await renewOnce();
    if (refused !== current()) return current();
    return knownVersions().find((version) => version !== refused && trialsOf(version) < MAX_TRIALS);
  }

  return {
    /** Sends a call. If its version is refused, the call is repeated once with another one that is worth a try. */
    async send(call: VersionedCall): Promise<HttpResponse> {
      if (setting === undefined) {
        loading ??= readShared();
        await loading;
      }
      const version = current();
      const response = await sendWith(version, call);
      const other = response.status === 400 ? await findOther(version) : undefined;
      return other === undefined ? response : sendWith(other, call);
    },

    /** Reads what other instances have learned, and looks the version up once a day. */
    async runIfDue(): Promise<void> {
      if (setting !== undefined) return;
      if (await readShared()) await shared.write(JSON.stringify(kept));
      const now = clock.now();
      if (now - kept.learnedAtMs < RENEW_AFTER_MS || now - kept.askedAtMs < RETRY_AFTER_MS) return;
      await renewOnce();
      const { learned, rejected } = kept;
      if (learned !== null && learned !== current() && learned !== rejected) await switchTo(learned);
    },

    state(): ClientVersionState {
      const version = current();
      const origin = kept.current === null ? 'built-in' : 'learned';
      const isRefused = refusals >= MIN_REFUSALS;
      const advice =
        setting === undefined
          ? 'and no other version is known to work'
          : 'which YOUTUBE_CLIENT_VERSION sets: unset it to use the current version';
      return {
        version,
        origin: setting === undefined ? origin : 'setting',
        learnedAtMs: kept.learnedAtMs === 0 ? null : kept.learnedAtMs,
        isRefused,
        problem: isRefused ? `YouTube refuses ${version}, ${advice}` : describeLookups(kept),
      };
    },
  };
}

function describeLookups({ current, learnedAtMs, askedAtMs }: Kept): string | null {
  if (askedAtMs <= learnedAtMs) return null;
  const since = learnedAtMs === 0 ? '' : ` since ${new Date(learnedAtMs).toISOString().slice(0, 10)}`;
  return `YouTube has not named its client version${since}; ${current ?? BUILT_IN_CLIENT_VERSION} stays in use`;
}

type LookupOptions = Pick<ClientVersionsOptions, 'http' | 'origin' | 'clock'> & { readonly timeoutMs: number };

const MAX_BYTES = 4 * 1024 * 1024;

/** Where YouTube names the version: the data of the service worker (about 1 KB), then the home page. State of 2026-11. */
const PLACES = [
  { name: 'sw.js_data', path: '/sw.js_data', read: readServiceWorkerData },
  { name: 'page', path: '/', read: readPage },
];

/**
 * Looks up the current version of YouTube's web client. Never rejects: the service then keeps its version.
 *
 * @param options `timeoutMs` is for all places together
 * @returns `version`: absent if no place named one; `problem`: why the places before it named none
 */
export async function lookUpClientVersion({ http, origin, clock, timeoutMs }: LookupOptions) {
  // Each place must leave time for the others.
  const placeMs = timeoutMs / PLACES.length;
  const problems: string[] = [];
  for (const { name, path, read } of PLACES) {
    const found = await orError(
      withDeadline(clock, placeMs, new AbortController().signal, async (signal) => {
        const url = `${origin}${path}`;
        const limits = { timeoutMs: placeMs, maxBytes: MAX_BYTES, signal };
        const { status, body } = await http.request({ method: 'GET', url, headers: PAGE_HEADERS, ...limits });
        if (status !== 200) throw new AppError('upstream_invalid', `status ${status}`);
        const version = read(body.toString('utf8'));
        if (version === undefined) throw new AppError('upstream_invalid', 'no version in the response');
        return compactCopy(version);
      }),
    );
    if (typeof found === 'string') return { version: found, problem: problems.join('; ') || undefined };
    problems.push(`${name}: ${found.message}`);
  }
  return { version: undefined, problem: problems.join('; ') };
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
