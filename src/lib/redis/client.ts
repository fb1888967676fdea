import { createHash } from 'node:crypto';
import type { RedisClientType } from '@redis/client';

/** A client without modules, functions and scripts. */
export type RedisClient = RedisClientType<Record<never, never>, Record<never, never>, Record<never, never>, 2>;

/** A server that responds too slowly must not fill the memory: a further command fails, after which Redis is paused. */
const MAX_PENDING_COMMANDS = 10_000;

/**
 * One connection that neither queues commands while it is down nor connects again by itself.
 *
 * @param connectTimeoutMs for the socket alone; greeting and login come after it.
 */
export async function createRedisClient(url: string, connectTimeoutMs: number): Promise<RedisClient> {
  // A fifth of all modules, which a start without Redis does not load.
  const { createClient } = await import('@redis/client');
  return createClient({
    url,
    socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    // Without it, the client subscribes to notices that only Redis Enterprise can send.
    maintNotifications: 'disabled',
    // The client limits only the time until a command is sent, with a timer of five seconds for each. `connection.ts` limits
    // the time until its response.
    commandOptions: { timeout: 0 },
  });
}

/**
 * A Lua script, which Redis executes atomically. Sends the script's digest; its text only to a server that does not know it, as
 * after a restart.
 */
export function createRedisScript(lua: string) {
  const digest = createHash('sha1').update(lua).digest('hex');
  return async (client: RedisClient, keys: string[], args: string[]): Promise<unknown> => {
    try {
      return await client.evalSha(digest, { keys, arguments: args });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(lua, { keys, arguments: args });
    }
  };
}
