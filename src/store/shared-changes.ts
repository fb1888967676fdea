import { randomUUID } from 'node:crypto';
import { isChannelId } from '../domain/identifier.ts';
import { createRedisScript } from '../lib/redis/client.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import { type Check, type Checked, either, fields, listOf, oneOf, parseJson, text, trueOrFalse } from '../lib/shape.ts';
import { type AnnouncedChange, type Change, type Changes, EVERYTHING } from './changes.ts';

/** A Redis stream of all instances' changes. */
export const CHANGES_KEY = 'pennant:changes1';
/** The position before the first entry of the stream. */
export const START = '0-0';

interface SharedChangesOptions {
  readonly connection: RedisConnection;
  readonly changes: Changes;
  /** The position that an earlier run of this instance has read up to. */
  readonly startPosition?: string | undefined;
  /** Called for an invalid entry of the stream. */
  readonly onRefused?: () => void;
}

const MAX_ENTRIES = 1_000;
const ENTRIES_PER_STEP = 100;
/** The longest time that an affected entry is stored. */
const KEPT_MS = 7 * 86_400_000;
/** A larger change is published in parts. */
const MAX_CHANNELS_PER_ENTRY = 1_000;
/** After Redis has lost the stream, an instance publishes its changes of this period again. */
const REPEATED_MS = 3_600_000;

const OPEN = `
local stream = KEYS[1]
if redis.call('TYPE', stream).ok ~= 'stream' then redis.call('DEL', stream) end
`;

/** Returns the ID of the change and the ID before it. */
const PUBLISH = createRedisScript(`${OPEN}
local before = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local id = redis.call('XADD', stream, 'MAXLEN', '~', ARGV[1], '*', 'change', ARGV[3])
redis.call('PEXPIRE', stream, ARGV[2])
return { id, before and before[1] or '' }
`);

/** Returns the latest ID, the first ID, the length, and the entries after the given ID. */
const READ = createRedisScript(`${OPEN}
local latest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if not latest then return { '', '', 0, {} } end
local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local after = redis.call('XRANGE', stream, '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
return { latest[1], first[1], redis.call('XLEN', stream), after }
`);

type ReadReply = [latest: string, first: string, length: number, after: [id: string, fields: string[]][]];

export type SharedChanges = ReturnType<typeof createSharedChanges>;

/** The changes of all instances on the same Redis, in a total order. Calls of `receive` must not overlap. */
export function createSharedChanges({ connection, changes, startPosition = START, onRefused }: SharedChangesOptions) {
  const ownName = randomUUID();
  let position = startPosition;
  let received: AnnouncedChange[] = [];

  /**
   * Publishes the change. Afterwards no instance can store results in Redis whose work began before the change. Rejects
   * with `RedisUnavailable`.
   */
  async function publish(announced: AnnouncedChange): Promise<void> {
    const { channelIds, ...change } = announced.change;
    const parts = channelIds === 'all' ? [channelIds] : chunksOf([...channelIds], MAX_CHANNELS_PER_ENTRY);
    let id = START;
    for (const part of parts) {
      const message: Message = { by: ownName, ...change, names: [...change.names], channelIds: part };
      const args = [String(MAX_ENTRIES), String(KEPT_MS), JSON.stringify(message)];
      const reply = await connection.run((redis) => PUBLISH(redis, [CHANGES_KEY], args));
      const [published, before] = reply as [id: string, before: string];
      id = published;
      // All earlier changes are known here, so this instance may continue to store at once.
      if (before === position || (before === '' && position === START)) position = published;
    }
    announced.position = id;
  }

  /** @returns true if there may be more to read */
  async function readStep(): Promise<boolean> {
    const args = [position, String(ENTRIES_PER_STEP)];
    const reply = (await connection.run((redis) => READ(redis, [CHANGES_KEY], args))) as ReadReply;
    const [latest, first, length, after] = reply;
    const isBehind = position !== START && latest !== '' && isLater(first, position);
    if (isBehind && length >= MAX_ENTRIES) {
      // The stream was trimmed before this instance read it: the missed changes may concern anything.
      received.push(changes.announce(EVERYTHING, latest));
      position = latest;
      return false;
    }
    if (position !== START && (isBehind || latest === '' || isLater(position, latest))) {
      position = START;
      // Other instances may have missed a change that was sent just before Redis lost its data.
      for (const recent of changes.ownSince(performance.now() - REPEATED_MS)) await publish(recent);
      return true;
    }
    for (const [id, [, json = '']] of after) {
      const message = parseJson(json, isMessage);
      if (message === undefined) onRefused?.();
      else if (message.by !== ownName) received.push(changes.announce(changeOf(message), id));
      position = id;
    }
    return after.length === ENTRIES_PER_STEP;
  }

  return {
    publish,

    /**
     * Announces the changes of other instances here. Returns those announced since the last successful call. Rejects with
     * `RedisUnavailable`.
     */
    async receive(): Promise<readonly AnnouncedChange[]> {
      while (await readStep());
      const announced = received;
      received = [];
      return announced;
    },

    /** The position of the latest change announced here. It is stored with every value. */
    position: () => position,
  };
}

const CHANNEL_ID: Check<string> = (value): value is string => typeof value === 'string' && isChannelId(value);

const isMessage = fields({
  // The instance that published it.
  by: text(),
  channelIds: either(oneOf(['all']), listOf(CHANNEL_ID)),
  names: listOf(text()),
  searches: oneOf(['naming', 'empty', 'all']),
  includesImages: trueOrFalse,
});

type Message = Checked<typeof isMessage>;

function changeOf({ channelIds, names, searches, includesImages }: Message): Change {
  const ids = channelIds === 'all' ? channelIds : new Set(channelIds);
  return { channelIds: ids, names: new Set(names), searches, includesImages };
}

/** Compares two stream IDs: milliseconds and a sequence number. */
export function isLater(id: string, than: string): boolean {
  const [ms = 0, count = 0] = id.split('-').map(Number);
  const [thanMs = 0, thanCount = 0] = than.split('-').map(Number);
  return ms === thanMs ? count > thanCount : ms > thanMs;
}

/** Returns at least one chunk, which may be empty. */
function chunksOf<T>(items: readonly T[], length: number): T[][] {
  const count = Math.max(1, Math.ceil(items.length / length));
  return Array.from({ length: count }, (_, at) => items.slice(at * length, (at + 1) * length));
}
