import { type Clock, systemClock } from '../clock.ts';
import type { BoundedStats } from '../metrics.ts';
import { createRedisClient, type RedisAddress, type RedisClient } from './client.ts';

/** Redis did not execute a command, or is paused after a failure. */
export class RedisUnavailable extends Error {
  override name = 'RedisUnavailable';
}

/** The key holds another type than the command expects. Redis itself works. */
export class RedisWrongType extends RedisUnavailable {
  override name = 'RedisWrongType';
}

/**
 * A connection to Redis with short time-outs. After three commands in a row without a response, a lost connection or a
 * refused command (full, read-only, not allowed), Redis is paused for a moment; then a new connection is made, and used
 * after a small write succeeds. Commands are neither queued nor sent twice.
 */
export interface RedisConnection {
  /**
   * Runs a command, or several that belong together.
   *
   * @param timeoutMs default: `commandTimeoutMs`
   * @throws RedisUnavailable after the time-out, or at once while Redis is paused; the command may have been executed
   * anyway. RedisWrongType when a key holds another type; Redis stays in use
   */
  run<T>(command: (client: RedisClient) => Promise<T>, timeoutMs?: number): Promise<T>;
  /** Since the start: `timeouts` of commands, and `outages`, when a usable Redis was paused after a failure. */
  stats(): {
    readonly isUsable: boolean;
    readonly timeouts: number;
    readonly outages: number;
    readonly commands: BoundedStats;
  };
  /** Pending commands fail, so close their callers first. */
  close(): void;
}

export interface RedisTimings {
  /** How long a caller waits for a command, which may be one of seven in a row for one response to a client. */
  readonly commandTimeoutMs: number;
  /** A command without a response for this long, whatever its caller waits, counts towards a failure of Redis. */
  readonly failureTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long Redis is paused after a failure. */
  readonly pauseMs: number;
  /** Redis is reported as working after it has worked for this long. */
  readonly steadyMs: number;
}

interface RedisConnectionOptions {
  readonly address: RedisAddress;
  /** Called with each new reason why Redis is not used, and with `null` when it works. */
  readonly onStateChange: (problem: string | null) => void;
  readonly timings?: Partial<RedisTimings>;
  /** The clock of all time-outs and pauses except the socket's own. Default: the system's clock. */
  readonly clock?: Clock;
}

/** A server that stalls must not fill the memory; further commands fail at once, and Redis stays in use. */
const MAX_COMMANDS = 10_000;
const TIMINGS: RedisTimings = {
  commandTimeoutMs: 40,
  failureTimeoutMs: 250,
  connectTimeoutMs: 500,
  pauseMs: 1_000,
  steadyMs: 3_000,
};
const MAX_TIMEOUTS_IN_A_ROW = 3;
/** By a script, because a user may be allowed to write and not to run scripts. */
const PROBE = "redis.call('SET', KEYS[1], '', 'PX', ARGV[1])";
const PROBE_OPTIONS = { keys: ['pennant:probe'], arguments: ['1000'] };

/** Resolves when the first attempt has succeeded or failed. */
export async function createRedisConnection(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { address, onStateChange, clock = systemClock } = options;
  const timings = { ...TIMINGS, ...options.timings };
  let usable: RedisClient | undefined;
  let isClosed = false;
  let cancelTimer: () => void = () => undefined;
  let reportedProblem: string | null = null;
  let timeoutsInARow = 0;
  /** When the last of them was counted. Monotonic. */
  let timedOutAtMs = -Infinity;
  let timeouts = 0;
  let outages = 0;
  let commands = 0;

  function report(problem: string | null): void {
    if (problem === reportedProblem) return;
    reportedProblem = problem;
    onStateChange(problem);
  }

  async function connect(): Promise<void> {
    const client = await createRedisClient(address, timings.connectTimeoutMs);
    // A failed attempt is handled below.
    client.on('error', (error: Error) => {
      if (client === usable) giveUp(error);
    });
    try {
      await replyWithin(clock, client.connect(), timings.connectTimeoutMs);
      await replyWithin(clock, client.eval(PROBE, PROBE_OPTIONS), timings.failureTimeoutMs);
    } catch (error) {
      client.destroy();
      if (!isClosed) pause(error as Error);
      return;
    }
    if (isClosed) {
      client.destroy();
      return;
    }
    usable = client;
    timeoutsInARow = 0;
    cancelTimer = clock.after(timings.steadyMs, () => report(null));
  }

  function pause(error: Error): void {
    cancelTimer();
    cancelTimer = clock.after(timings.pauseMs, () => void connect());
    report(error.message);
  }

  function giveUp(error: Error): void {
    const client = usable;
    usable = undefined;
    outages += 1;
    client?.destroy();
    pause(error);
  }

  /** Counts a failure, and gives Redis up if it is the connection's or the third time-out in a row. */
  function handleFailure(client: RedisClient, error: unknown, sentAtMs: number): void {
    if (error instanceof RedisTimeout) {
      // Commands that waited at the same time show one delay, not several.
      if (sentAtMs < timedOutAtMs) return;
      timedOutAtMs = clock.monotonic();
      timeoutsInARow += 1;
      if (timeoutsInARow < MAX_TIMEOUTS_IN_A_ROW) return;
    }
    if (client === usable) giveUp(error as Error);
  }

  /** Judges Redis by a command that it was sent. */
  async function watch(client: RedisClient, response: Promise<unknown>): Promise<void> {
    const sentAtMs = clock.monotonic();
    try {
      await replyWithin(clock, response, timings.failureTimeoutMs);
      timeoutsInARow = 0;
    } catch (error) {
      if (!isWrongType(error)) handleFailure(client, error, sentAtMs);
    } finally {
      commands -= 1;
    }
  }

  async function run<T>(
    command: (client: RedisClient) => Promise<T>,
    timeoutMs = timings.commandTimeoutMs,
  ): Promise<T> {
    const client = usable;
    if (client === undefined) throw new RedisUnavailable(reportedProblem ?? 'the connection is closed');
    if (commands >= MAX_COMMANDS) throw new RedisUnavailable('Too many commands wait for Redis.');
    commands += 1;
    const response = command(client);
    void watch(client, response);
    try {
      return await replyWithin(clock, response, timeoutMs);
    } catch (error) {
      if (isWrongType(error)) throw new RedisWrongType('A key in Redis holds another type.', { cause: error });
      if (error instanceof RedisTimeout) timeouts += 1;
      throw new RedisUnavailable('Redis did not execute a command.', { cause: error });
    }
  }

  await connect();

  return {
    run,

    stats: () => ({
      isUsable: usable !== undefined,
      timeouts,
      outages,
      commands: { entries: commands, maxEntries: MAX_COMMANDS },
    }),

    close() {
      isClosed = true;
      cancelTimer();
      const client = usable;
      usable = undefined;
      client?.destroy();
    },
  };
}

/** Redis 6.2 prefixes the errors of a script with its own text. */
function isWrongType(error: unknown): boolean {
  return error instanceof Error && /\bWRONGTYPE\b/.test(error.message);
}

/** The command timed out; it may have been executed anyway. */
export class RedisTimeout extends Error {
  override name = 'RedisTimeout';
}

/**
 * The response, when it comes in time. A delay of this process is no time of Redis, or a burst of requests would look like an
 * outage: the time-out starts when the client has sent the command, in the next turn of the event loop, and replies that have
 * arrived by its end are read first.
 *
 * @throws RedisTimeout
 */
export function replyWithin<T>(clock: Clock, response: Promise<T>, ms: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timeOut = () => reject(new RedisTimeout(`no response within ${ms} ms`));
  let cancel: () => void = () => clearImmediate(sending);
  const sending = setImmediate(() => {
    // The event loop reads its sockets between timers and immediates.
    cancel = clock.after(ms, () => setImmediate(timeOut));
  });
  response.then(resolve, reject).finally(() => cancel());
  return promise;
}
