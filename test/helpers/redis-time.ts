import type { RedisClient } from '../../src/lib/redis/client.ts';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';

type EvalOptions = Parameters<RedisClient['eval']>[1];

/**
 * Runs scripts with a time that the test moves, everything else in them as it is: Redis's own clock cannot be moved.
 * Keys still expire by Redis's clock.
 */
export function withScriptTime(connection: RedisConnection, nowMs: () => number): Pick<RedisConnection, 'run'> {
  function replaceTime(lua: string): string {
    const microseconds = Math.round(nowMs() * 1000);
    const time = `{ '${Math.floor(microseconds / 1_000_000)}', '${microseconds % 1_000_000}' }`;
    if (!lua.includes("redis.call('TIME')")) throw new Error('the script does not ask for the time');
    return lua.replaceAll("redis.call('TIME')", time);
  }

  return {
    run: (command) =>
      connection.run((client) => {
        const scripted = Object.create(client, {
          // The script's text is then sent, in which the time can be replaced.
          evalSha: { value: () => Promise.reject(new Error('NOSCRIPT')) },
          eval: { value: (lua: string, options: EvalOptions) => client.eval(replaceTime(lua), options) },
        }) as RedisClient;
        return command(scripted);
      }),
  };
}
