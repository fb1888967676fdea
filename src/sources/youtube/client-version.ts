import type { ClientVersionState } from '../../domain/source-status.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient } from '../../lib/http/client.ts';
import { fields, nullOr, numberIn, text } from '../../lib/shape.ts';
import type { KeptText, Lease } from '../source.ts';
import { CLIENT_VERSION, type Lookup, lookUpClientVersion } from './client-version-lookup.ts';

/** Accepted in 2026-11. YouTube rejects versions older than about a year and a half with HTTP 400. */
export const BUILT_IN_CLIENT_VERSION = '2.20260630.03.00';

/** Chooses the version of YouTube's web client that requests name. */
export interface ClientVersions {
  current(): Promise<string>;
  /** Reports the outcome of a call: `refused` is HTTP 400, `accepted` any other API response. */
  report(version: string, outcome: 'accepted' | 'refused'): void;
  /** After a refusal: the version for one retry; `undefined` if no other version is worth a try. */
  findOther(refused: string): Promise<string | undefined>;
  /** Reads what other instances have learned, and looks the version up once a day. */
  runIfDue(): Promise<void>;
  state(): ClientVersionState;
}

export interface ClientVersionChange {
  readonly from: string;
  readonly to: string;
}

export interface ClientVersionsOptions extends Omit<LearnedClientVersionOptions, 'lookUp'> {
  /** The operator's version; `undefined`: the version is learned. */
  readonly setting: string | undefined;
  readonly http: HttpClient;
  readonly origin: string;
}

export function createClientVersions({ setting, http, origin, ...options }: ClientVersionsOptions): ClientVersions {
  if (setting !== undefined) return createFixedClientVersion(setting);
  const lookUp = () =>
    lookUpClientVersion({ http, origin, clock: options.clock, timeoutMs: TIME_LIMITS_MS.clientVersion });
  return createLearnedClientVersion({ ...options, lookUp });
}

/** The operator's version. Nothing is learned. */
export function createFixedClientVersion(version: string): ClientVersions {
  let refusals = 0;
  return {
    current: async () => version,
    report(_version, outcome) {
      refusals = outcome === 'refused' ? refusals + 1 : 0;
    },
    findOther: async () => undefined,
    runIfDue: async () => undefined,
    state: () => ({
      version,
      origin: 'setting',
      learnedAtMs: null,
      isRefused: refusals >= MIN_REFUSALS,
      problem:
        refusals >= MIN_REFUSALS
          ? `YouTube refuses ${version}, which YOUTUBE_CLIENT_VERSION sets: unset it to use the current version`
          : null,
    }),
  };
}

interface LearnedClientVersionOptions {
  readonly clock: Clock;
  readonly kept: KeptText;
  readonly lease: Lease;
  readonly lookUp: () => Promise<Lookup>;
  /** Called after a change: calls that failed with the former version may succeed now. */
  readonly onChange: (change: ClientVersionChange) => void;
}

/** The stored state, shared by all instances. Times are milliseconds since 1970; 0: never. */
interface Kept {
  /** `null`: the built-in version. */
  readonly current: string | null;
  /** The previous version. */
  readonly earlier: string | null;
  /** The version that YouTube named last. */
  readonly learned: string | null;
  /** A learned version that was refused while an earlier one worked. It is not used again automatically. */
  readonly rejected: string | null;
  readonly learnedAtMs: number;
  readonly askedAtMs: number;
  readonly writtenAtMs: number;
}

/** Retries with a version that were refused again. */
interface Trials {
  readonly sinceMs: number;
  readonly count: number;
}

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
/** Between two look-ups, whatever the reason. */
const MIN_PAUSE_MS = 5 * MINUTE_MS;
/** After this many refusals within the pause a version is not tried until its end. A record takes three calls. */
const MAX_TRIALS = 20;
/** A later time was written before the clock was set back, and would prevent look-ups. */
const MAX_CLOCK_SKEW_MS = 5 * MINUTE_MS;
/** A single refusal may concern the channel. */
const MIN_REFUSALS = 3;

/**
 * Learns the version once a day and when a call is refused. A learned version stays in use until it is refused. If an
 * earlier version is accepted then, that one is used again. A failed look-up changes nothing.
 */
function createLearnedClientVersion(options: LearnedClientVersionOptions): ClientVersions {
  const { clock, kept: shared, lease, lookUp, onChange } = options;
  let kept = NOTHING_KEPT;
  let loading: Promise<unknown> | undefined;
  let renewing: Promise<void> | undefined;
  let lastAskedAtMs = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  /** At most one entry for each known version, of which there are three. */
  const trials = new Map<string, Trials>();

  const current = () => kept.current ?? BUILT_IN_CLIENT_VERSION;

  function take(next: Kept): void {
    const from = current();
    kept = next;
    const to = current();
    if (from === to) return;
    refusals = 0;
    trials.clear();
    onChange({ from, to });
  }

  function write(changes: Partial<Kept>): Promise<void> {
    // Later than the state it replaces, even if this instance's clock is behind.
    take({ ...kept, ...changes, writtenAtMs: Math.max(clock.now(), kept.writtenAtMs + 1) });
    return shared.write(JSON.stringify(kept));
  }

  /** @returns true if the stored state is older than this one: it could not be written, or was cleared */
  async function readShared(): Promise<boolean> {
    const found = parseKept(await shared.read(), clock.now());
    const storedAtMs = found?.writtenAtMs ?? 0;
    if (found !== undefined && storedAtMs > kept.writtenAtMs) take(found);
    return storedAtMs < kept.writtenAtMs;
  }

  function load(): Promise<unknown> {
    loading ??= readShared();
    return loading;
  }

  function switchTo(version: string): Promise<void> {
    const from = current();
    const rejected = version === kept.learned ? null : from;
    return write({ current: version === BUILT_IN_CLIENT_VERSION ? null : version, earlier: from, rejected });
  }

  async function renew(): Promise<void> {
    if (clock.monotonic() - lastAskedAtMs < MIN_PAUSE_MS) return;
    if (!(await lease.tryAcquire('youtube-client-version', MIN_PAUSE_MS))) return;
    lastAskedAtMs = clock.monotonic();
    const found = await lookUp();
    const now = clock.now();
    await write({
      askedAtMs: now,
      ...(found.version === undefined ? {} : { learned: found.version, learnedAtMs: now }),
    });
  }

  function renewOnce(): Promise<void> {
    renewing ??= readShared()
      .then(renew)
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  }

  function failedTrials(version: string): Trials {
    const recent = trials.get(version);
    const isOver = recent === undefined || clock.monotonic() - recent.sinceMs >= MIN_PAUSE_MS;
    return isOver ? { sinceMs: clock.monotonic(), count: 0 } : recent;
  }

  function knownVersions(): string[] {
    return [kept.learned, kept.earlier, BUILT_IN_CLIENT_VERSION].filter((version) => version !== null);
  }

  function noteRefusal(version: string): void {
    if (version === current()) {
      refusals += 1;
      return;
    }
    const failed = failedTrials(version);
    trials.set(version, { ...failed, count: failed.count + 1 });
  }

  function noteAcceptance(version: string): void {
    if (version === current()) refusals = 0;
    else if (knownVersions().includes(version)) void switchTo(version);
  }

  return {
    async current() {
      await load();
      return current();
    },

    report(version, outcome) {
      if (outcome === 'refused') noteRefusal(version);
      else noteAcceptance(version);
    },

    async findOther(refused) {
      if (refused === current()) await renewOnce();
      if (refused !== current()) return current();
      return knownVersions().find((version) => version !== refused && failedTrials(version).count < MAX_TRIALS);
    },

    async runIfDue() {
      await load();
      if (await readShared()) await shared.write(JSON.stringify(kept));
      const now = clock.now();
      if (now - kept.learnedAtMs < RENEW_AFTER_MS || now - kept.askedAtMs < RETRY_AFTER_MS) return;
      await renewOnce();
      const { learned, rejected } = kept;
      if (learned !== null && learned !== current() && learned !== rejected) await switchTo(learned);
    },

    state() {
      const isRefused = refusals >= MIN_REFUSALS;
      return {
        version: current(),
        origin: kept.current === null ? 'built-in' : 'learned',
        learnedAtMs: kept.learnedAtMs === 0 ? null : kept.learnedAtMs,
        isRefused,
        problem: isRefused
          ? `YouTube refuses ${current()}, and no other version is known to work`
          : describeLookups(kept),
      };
    },
  };
}

function describeLookups({ current, learnedAtMs, askedAtMs }: Kept): string | null {
  if (askedAtMs <= learnedAtMs) return null;
  const since = learnedAtMs === 0 ? '' : ` since ${new Date(learnedAtMs).toISOString().slice(0, 10)}`;
  return `YouTube has not named its client version${since}; ${current ?? BUILT_IN_CLIENT_VERSION} stays in use`;
}

const VERSION = nullOr(text(CLIENT_VERSION));
const TIME = numberIn(0, Number.MAX_SAFE_INTEGER);
const KEPT = fields<Kept>({
  current: VERSION,
  earlier: VERSION,
  learned: VERSION,
  rejected: VERSION,
  learnedAtMs: TIME,
  askedAtMs: TIME,
  writtenAtMs: TIME,
});

/** `undefined` if the stored text is invalid: the store may be shared or damaged. */
function parseKept(stored: string | undefined, nowMs: number): Kept | undefined {
  const kept = parseJson(stored);
  if (!KEPT(kept)) return undefined;
  const past = (timeMs: number) => (timeMs > nowMs + MAX_CLOCK_SKEW_MS ? 0 : timeMs);
  const { learnedAtMs, askedAtMs, writtenAtMs } = kept;
  return {
    ...kept,
    ...{ learnedAtMs: past(learnedAtMs), askedAtMs: past(askedAtMs), writtenAtMs: past(writtenAtMs) },
  };
}

function parseJson(stored: string | undefined): unknown {
  try {
    return JSON.parse(stored ?? 'null');
  } catch {
    return undefined;
  }
}
