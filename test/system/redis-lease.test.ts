import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRedisLease, type RedisConnection } from '../../src/lib/redis/connection.ts';
import { connectTo, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';

/** Far more than a test takes. */
const LEASE_MS = 3_600_000;

describe.skipIf(!findRedisServer())('a lease in Redis', () => {
  let server: RedisServer;
  let connections: RedisConnection[];
  beforeAll(async () => {
    server = await startRedisServer();
    connections = [await connectTo(server), await connectTo(server)];
  });
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await server.remove();
  });

  it('is given to one instance for its duration, separately for each task', async () => {
    const [one, other] = connections.map((connection) => createRedisLease({ connection }));
    const granted = await Promise.all([one, other, one].map((lease) => lease?.tryAcquire('a task', LEASE_MS)));
    expect(granted.filter((isGranted) => isGranted)).toHaveLength(1);
    expect(await other?.tryAcquire('another task', LEASE_MS)).toBe(true);
    const leftMs = Number(await server.command('PTTL', 'pennant:lease1:a task'));
    expect(leftMs).toBeGreaterThan(LEASE_MS / 2);
    expect(leftMs).toBeLessThanOrEqual(LEASE_MS);
    await server.command('DEL', 'pennant:lease1:a task');
    expect(await one?.tryAcquire('a task', LEASE_MS)).toBe(true);
  });

  it('is given to every instance while Redis cannot be used', async () => {
    for (const connection of connections) connection.close();
    const [one, other] = connections.map((connection) => createRedisLease({ connection }));
    expect([await one?.tryAcquire('a task', LEASE_MS), await other?.tryAcquire('a task', LEASE_MS)]).toEqual([
      true,
      true,
    ]);
  });
});
