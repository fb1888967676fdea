import { randomUUID } from 'node:crypto';
import { isChannelId } from '../domain/identifier.ts';
import { createRedisScript } from '../lib/redis/client.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import { type Check, either, fields, listOf, oneOf, text, trueOrFalse } from '../lib/shape.ts';
import { type AnnouncedChange, type Change, type Changes, EVERYTHING } from './changes.ts';

/** A Redis stream of all instances' changes. */
export const CHANGES_KEY = 'pennant:changes1';
/** A place in the stream before its first entry. */
export const START = '0-0';

export interface SharedChangesOptions {
  readonly connection: RedisConnection;
  readonly changes: Changes;
  /** Up to where an earlier run of this instance has followed the stream. */
  readonly startPosition?: string;
  /** Called for an entry of the stream that is no change. */
  readonly onRefused?: () => void;
}

/** The changes of all instances on the same Redis, in one order. Calls of `receive` must not overlap. */
export interface SharedChanges {
  /**
   * Tells the other instances. When this resolves, no instance can store in Redis what comes from before the change.
   * Rejects with `RedisUnavailable`.
   */
  publish(announced: AnnouncedChange): Promise<void>;
  /**
   * Announces here what other instances have published, and returns what was announced since the last call that returned
   * something. Rejects with `RedisUnavailable`.
   */
  receive(): Promise<readonly AnnouncedChange[]>;
  /** The place of the latest change that was announced here; it is stored with every value. */
  position(): string;
}

const MAX_ENTRIES = 1_000;
const ENTRIES_PER_STEP = 100;
/** As long as anything is kept that a change could concern. */
const KEPT_MS = 7 * 86_400_000;
/** A change with more is published in parts. */
const MAX_CHANNELS_PER_ENTRY = 1_000;
/** After Redis has lost the stream, an instance publishes again what it has published for this long. */
const REPEATED_MS = 3_600_000;

const OPEN = `
local stream = KEYS[1]
if redis.call('TYPE', stream).ok ~= 'stream' then redis.call('DEL', stream) end
`;

/** The ID of the change, and that of the one before it. */
const PUBLISH = createRedisScript(`${OPEN}
local before = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
local id = redis.call('XADD', stream, 'MAXLEN', '~', ARGV[1], '*', 'change', ARGV[3])
redis.call('PEXPIRE', stream, ARGV[2])
return { id, before and before[1] or '' }
`);

/** The latest ID, the first one, how many there are, and those after the given one. */
const READ = createRedisScript(`${OPEN}
local latest = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
if not latest then return { '', '', 0, {} } end
local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
local after = redis.call('XRANGE', stream, '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
return { latest[1], first[1], redis.call('XLEN', stream), after }
`);

type ReadReply = [latest: string, first: string, length: number, after: [id: string, fields: string[]][]];

export function createSharedChanges(options: SharedChangesOptions): SharedChanges {
  const { connection, changes, startPosition = START, onRefused } = options;
  const ownName = randomUUID();
  let position = startPosition;
  let received: AnnouncedChange[] = [];

  async function send({ channelIds, ...change }: Change): Promise<string> {
    const parts = channelIds === 'all' ? [channelIds] : chunksOf([...channelIds], MAX_CHANNELS_PER_ENTRY);
    let id = START;
    for (const part of parts) {
      const message: Message = { by: ownName, ...change, names: [...change.names], channelIds: part };
      const args = [String(MAX_ENTRIES), String(KEPT_MS), JSON.stringify(message)];
      const reply = await connection.run((redis) => PUBLISH(redis, [CHANGES_KEY], args));
      const [published, before] = reply as [id: string, before: string];
      id = published;
      // All changes before it are known here, so this instance may go on storing at once.
      if (before === position || (before === '' && position === START)) position = published;
    }
    return id;
  }

  /** A change that was sent right before Redis lost its data may not have reached everybody. */
  async function repeatRecent(): Promise<void> {
    for (const announced of changes.ownSince(performance.now() - REPEATED_MS)) {
      announced.position = await send(announced.change);
    }
  }

  /** @returns whether there may be more to read */
  async function readStep(): Promise<boolean> {
    const args = [position, String(ENTRIES_PER_STEP)];
    const reply = (await connection.run((redis) => READ(redis, [CHANGES_KEY], args))) as ReadReply;
    const [latest, first, length, after] = reply;
    const isBehind = position !== START && latest !== '' && isLater(first, position);
    if (isBehind && length >= MAX_ENTRIES) {
      // The stream has dropped changes that were not read here: they can have been of anything.
      received.push(changes.announce(EVERYTHING, latest));
      position = latest;
      return false;
    }
    if (position !== START && (isBehind || latest === '' || isLater(position, latest))) {
      position = START;
      await repeatRecent();
      return true;
    }
    for (const [id, [, json = '']] of after) {
      const message = parse(json);
      if (message === undefined) onRefused?.();
      else if (message.by !== ownName) received.push(changes.announce(changeOf(message), id));
      position = id;
    }
    return after.length === ENTRIES_PER_STEP;
  }

  return {
    async publish(announced) {
      announced.position = await send(announced.change);
    },

    async receive() {
      while (await readStep());
      const announced = received;
      received = [];
      return announced;
    },

    position: () => position,
  };
}

interface Message {
  /** Which instance it comes from. */
  readonly by: string;
  readonly channelIds: 'all' | readonly string[];
  readonly names: readonly string[];
  readonly searches: Change['searches'];
  readonly includesPictures: boolean;
}

const CHANNEL_ID: Check<string> = (value): value is string => typeof value === 'string' && isChannelId(value);

const isMessage = fields<Message>({
  by: text(),
  channelIds: either(oneOf(['all']), listOf(CHANNEL_ID)),
  names: listOf(text()),
  searches: oneOf(['naming', 'empty', 'all']),
  includesPictures: trueOrFalse,
});

/** `undefined` for what no instance has published. */
function parse(json: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(json);
    return isMessage(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function changeOf({ channelIds, names, searches, includesPictures }: Message): Change {
  return {
    channelIds: channelIds === 'all' ? 'all' : new Set(channelIds),
    names: new Set(names),
    searches,
    includesPictures,
  };
}

/** By the two numbers of a stream ID: milliseconds and a count. */
export function isLater(id: string, than: string): boolean {
  const [ms = 0, count = 0] = id.split('-').map(Number);
  const [thanMs = 0, thanCount = 0] = than.split('-').map(Number);
  return ms === thanMs ? count > thanCount : ms > thanMs;
}

/** At least one part, which may be empty. */
function chunksOf<T>(items: readonly T[], length: number): T[][] {
  const count = Math.max(1, Math.ceil(items.length / length));
  return Array.from({ length: count }, (_, at) => items.slice(at * length, (at + 1) * length));
}
