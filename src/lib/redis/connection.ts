import { type Clock, systemClock } from '../clock.ts';
import { createRedisClient, type RedisClient } from './client.ts';

/** Redis did not execute a command, or is paused after a failure. */
export class RedisUnavailable extends Error {
  override name = 'RedisUnavailable';
}

export type RedisConnection = Awaited<ReturnType<typeof createRedisConnection>>;

interface RedisConnectionOptions {
  /** With user, password and database: `redis://`, `rediss://` or `unix://`. */
  readonly url: string;
  /** Called with each new reason why Redis is not used, and with `null` when it works. */
  readonly onStateChange: (problem: string | null) => void;
  /** Default: 500 ms. */
  readonly connectTimeoutMs?: number;
  /** The clock of all time-outs and pauses except the socket's own. Default: the system's clock. */
  readonly clock?: Clock;
}

const COMMAND_MS = 40;
/** A command without a response for this long, while no other command gets one, is a failure of Redis. */
const SILENCE_MS = 750;
const CONNECT_MS = 500;
/** How long Redis is paused after a failure. */
const PAUSE_MS = 1_000;
/** By a script, because a user may be allowed to write and not to run scripts. */
const PROBE = "redis.call('SET', KEYS[1], '', 'PX', ARGV[1])";
const PROBE_OPTIONS = { keys: ['pennant:probe'], arguments: ['1000'] };

/**
 * A connection to Redis with short time-outs. When Redis sends nothing while a command waits, loses the connection or refuses a
 * command (full, read-only, not allowed), it is paused for a moment; then a new connection is made, and used after a small
 * write succeeds. Commands are neither queued nor sent twice.
 *
 * Resolves when the first attempt has succeeded or failed.
 */
export async function createRedisConnection(options: RedisConnectionOptions) {
  const { url, onStateChange, connectTimeoutMs = CONNECT_MS, clock = systemClock } = options;
  let usable: RedisClient | undefined;
  let isClosed = false;
  let cancelTimer: () => void = () => undefined;
  let reportedProblem: string | null = null;
  /** When Redis last sent a response, on the monotonic clock. */
  let repliedAtMs = -Infinity;
  let timeouts = 0;
  let outages = 0;

  function report(problem: string | null): void {
    if (problem === reportedProblem) return;
    reportedProblem = problem;
    onStateChange(problem);
  }

  async function connect(): Promise<void> {
    const client = await createRedisClient(url, connectTimeoutMs);
    // A failed attempt is handled below.
    client.on('error', (error: Error) => {
      if (client === usable) giveUp(error);
    });
    try {
      await replyWithin(clock, client.connect(), connectTimeoutMs);
      await replyWithin(clock, client.eval(PROBE, PROBE_OPTIONS), CONNECT_MS);
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
    report(null);
  }

  function pause(error: Error): void {
    cancelTimer = clock.after(PAUSE_MS, () => void connect());
    report(error.message);
  }

  function giveUp(error: Error): void {
    const client = usable;
    usable = undefined;
    outages += 1;
    client?.destroy();
    pause(error);
  }

  /** Judges Redis by a command that it was sent. */
  async function watch(client: RedisClient, response: Promise<unknown>): Promise<void> {
    const sentAtMs = clock.monotonic();
    try {
      await replyWithin(clock, response, SILENCE_MS);
      repliedAtMs = clock.monotonic();
    } catch (error) {
      const isSilent = !(error instanceof RedisTimeout) || repliedAtMs <= sentAtMs;
      if (client === usable && isSilent) giveUp(error as Error);
    }
  }

  /**
   * Runs a command, or several that belong together.
   *
   * @param timeoutMs default: 40 ms, because a command may be one of seven in a row for one response to a client
   * @throws RedisUnavailable after the time-out, or at once while Redis is paused; the command may have been executed anyway
   */
  async function run<T>(command: (client: RedisClient) => Promise<T>, timeoutMs = COMMAND_MS): Promise<T> {
    const client = usable;
    if (client === undefined) throw new RedisUnavailable(reportedProblem ?? 'the connection is closed');
    const response = command(client);
    void watch(client, response);
    try {
      return await replyWithin(clock, response, timeoutMs);
    } catch (error) {
      if (error instanceof RedisTimeout) timeouts += 1;
      throw new RedisUnavailable('Redis did not execute a command.', { cause: error });
    }
  }

  await connect();

  return {
    run,

    /** Since the start: `timeouts` of commands, and `outages`, when a usable Redis was paused after a failure. */
    stats: () => ({ isUsable: usable !== undefined, timeouts, outages }),

    /** Pending commands fail, so close their callers first. */
    close(): void {
      isClosed = true;
      cancelTimer();
      const client = usable;
      usable = undefined;
      client?.destroy();
    },
  };
}

/** The command timed out; it may have been executed anyway. */
class RedisTimeout extends Error {
  override name = 'RedisTimeout';
}

/**
 * The response, when it comes in time. A delay of this process is no time of Redis, or a burst of requests would look like an
 * outage: the time-out starts when the client has sent the command, in the next turn of the event loop.
 *
 * @throws RedisTimeout
 */
function replyWithin<T>(clock: Clock, response: Promise<T>, ms: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timeOut = () => reject(new RedisTimeout(`no response within ${ms} ms`));
  let cancel: () => void = () => clearImmediate(sending);
  const sending = setImmediate(() => {
    cancel = clock.after(ms, timeOut);
  });
  response.then(resolve, reject).finally(() => cancel());
  return promise;
}
