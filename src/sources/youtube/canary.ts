import type { Channel } from '../../domain/channel.ts';
import { AppError, orError } from '../../domain/errors.ts';
import { channelRefsOf } from '../../domain/identifier.ts';
import type { CanaryState } from '../../domain/source-status.ts';
import type { Clock } from '../../lib/clock.ts';
import { createPause, type Pause } from '../../lib/http/pause.ts';
import { describeFailure } from '../../lib/logger.ts';
import { type Checked, fields, listOf, mapOf, nullOr, numberIn, oneOf, parseJson, text } from '../../lib/shape.ts';
import { probe, probeWays } from '../probe.ts';
import type { ChannelSource, KeptText, Lease, WayIn } from '../source.ts';
import { CHANNEL_FIELDS } from './layouts.ts';
import { WAYS } from './ways.ts';

export interface CanaryOptions {
  /** The channel in the setting. */
  readonly name: string;
  readonly clock: Clock;
  readonly kept: KeptText;
  readonly lease: Lease;
  /** Of the source; default: one of its own. A check is a call like others, and may be the trial. */
  readonly pause?: Pause | undefined;
}

const TIME = numberIn(0, Number.MAX_SAFE_INTEGER);

/** What it may lose: fields of the channel, and ways to a record. */
const PARTS = [...CHANNEL_FIELDS, ...WAYS];

/** The stored state, shared by all instances. Times are milliseconds since 1970; 0: never. */
const isKept = fields({
  name: text(),
  checkedAtMs: TIME,
  /** Fields that the channel had, and ways that worked. */
  known: listOf(oneOf(PARTS)),
  /** Those that disappeared, and when. */
  gone: mapOf(TIME),
  /** Why the last load or search failed. */
  failure: nullOr(text()),
});
type Kept = Checked<typeof isKept>;

const MINUTE_MS = 60_000;
const INTERVAL_MS = 60 * MINUTE_MS;
/** After a failure or a lost field the channel is loaded again sooner, because the problem may be temporary. */
const RECHECK_MS = 5 * MINUTE_MS;
/** After this time a lost field is no longer reported: the channel itself may have removed it. */
const FORGET_AFTER_MS = 7 * 24 * 60 * MINUTE_MS;
/** Longer than a probe takes. */
const LEASE_MS = MINUTE_MS;
const NEVER = new AbortController().signal;
/** In characters. */
const MAX_REASON = 300;
const MAX_CLOCK_SKEW_MS = 5 * MINUTE_MS;

/**
 * The same source, which also probes itself with a known channel every hour, without caches and client budgets, and detects
 * fields of the channel that disappeared, and ways to it that no longer work.
 */
export function withCanary(source: ChannelSource, options: CanaryOptions) {
  const { name, clock, kept: shared, lease, pause = createPause({ clock, label: source.name }) } = options;
  let kept: Kept = { name, checkedAtMs: 0, known: [], gone: {}, failure: null };

  async function readShared(): Promise<void> {
    const found = parseJson((await shared.read()) ?? '', isKept);
    if (found?.name !== name || found.checkedAtMs <= kept.checkedAtMs) return;
    const gone = Object.entries(found.gone).filter(([field]) => found.known.some((each) => each === field));
    kept = { ...found, gone: Object.fromEntries(gone) };
  }

  function isDue(): boolean {
    const ageMs = clock.now() - kept.checkedAtMs;
    const isFine = kept.failure === null && Object.keys(kept.gone).length === 0;
    // A time in the future was written before the clock was set back.
    return ageMs < -MAX_CLOCK_SKEW_MS || ageMs >= (isFine ? INTERVAL_MS : RECHECK_MS);
  }

  async function probeOnce() {
    const found = await probe(source, channelRefsOf(name), { clock });
    if (found.failure !== undefined) throw found.failure;
    return { ...found, ways: await probeWays(source, found.loaded.channel.channelId, clock) };
  }

  async function check(): Promise<Kept> {
    const checkedAtMs = clock.now();
    const found = await orError(pause.run('canary', probeOnce, NEVER));
    if (found instanceof AppError) return { ...kept, checkedAtMs, failure: describe(found) };
    const { loaded, search, ways } = found;
    const failure = search instanceof AppError ? `search: ${describe(search)}` : null;
    return { name, checkedAtMs, failure, ...compare(loaded.channel, ways, kept, checkedAtMs) };
  }

  function state(): CanaryState {
    const { checkedAtMs, known, gone, failure } = kept;
    return { name, checkedAtMs: checkedAtMs === 0 ? null : checkedAtMs, known, gone: Object.keys(gone), failure };
  }

  return {
    ...source,
    status: () => ({ ...source.status?.(), canary: state() }),
    async runDueWork(): Promise<void> {
      await source.runDueWork?.();
      await readShared();
      if (!isDue() || !(await lease.tryAcquire('youtube-canary', LEASE_MS))) return;
      kept = await check();
      await shared.write(JSON.stringify(kept));
    },
  };
}

function describe(failure: AppError): string {
  return describeFailure(failure).slice(0, MAX_REASON);
}

function compare(channel: Channel, ways: readonly WayIn[], before: Kept, nowMs: number): Pick<Kept, 'known' | 'gone'> {
  const working = ways.filter(({ result }) => typeof result === 'string').map(({ name }) => name);
  const there: readonly string[] = [...CHANNEL_FIELDS.filter((field) => isThere(channel[field])), ...working];
  const gone = before.known
    .filter((part) => !there.includes(part))
    .map((part): [string, number] => [part, before.gone[part] ?? nowMs])
    .filter(([, sinceMs]) => nowMs - sinceMs < FORGET_AFTER_MS);
  const known = PARTS.filter((part) => there.includes(part) || gone.some(([name]) => name === part));
  return { known, gone: Object.fromEntries(gone) };
}

function isThere(value: Channel[keyof Channel]): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}
