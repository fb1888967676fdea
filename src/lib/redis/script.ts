import { createHash } from 'node:crypto';
import type { RedisClient } from './client.ts';

/** A Lua script, which Redis carries out in one step. */
export type RedisScript = (client: RedisClient, keys: string[], args: (string | Buffer)[]) => Promise<unknown>;

/** Sends the script's digest; its text only to a server that does not know it, as after a restart. */
export function createRedisScript(lua: string): RedisScript {
  const digest = createHash('sha1').update(lua).digest('hex');
  return async (client, keys, args) => {
    try {
      return await client.evalSha(digest, { keys, arguments: args });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(lua, { keys, arguments: args });
    }
  };
}
