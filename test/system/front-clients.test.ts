import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { BEHIND_CDN, BY_CLIENT, findNginx, startFront, withIpv6Prefix } from '../helpers/front.ts';

/* deploy/nginx.conf in a real nginx in front of three instances, each with a rate limit of its own. */

const SAMPLES = [1, 2, 3, 4, 5, 6].map((number) => `UCPennantSample0000000${number}A`);
const LIMIT = 10;

/** @param prefixBytes the number in nginx.conf */
async function startByClient({ prefixBits = 64, prefixBytes = 8 } = {}) {
  const env = {
    TRUST_PROXY: '127.0.0.1/32',
    RATE_LIMIT: `${LIMIT}/3600`,
    RATE_LIMIT_OVERRIDES: '',
    RATE_LIMIT_IPV6_PREFIX: `${prefixBits}`,
  };
  const instances = await Promise.all([1, 2, 3].map(() => startTestApp({ env, encoder: createFakeEncoder() })));
  const ports = await Promise.all(instances.map((instance) => instance.listen()));
  const front = await startFront(ports, [...BEHIND_CDN, ...BY_CLIENT, withIpv6Prefix(prefixBytes)]);

  function ask(path: string, client: string): Promise<Response> {
    return fetch(front.base + path, { headers: { 'x-forwarded-for': client } });
  }

  return {
    instances,
    ask,

    /** How many of 60 requests for different channels are admitted. The clients' requests arrive in turn. */
    async countAdmitted(...clients: readonly string[]): Promise<number> {
      const responses = await Promise.all(
        Array.from({ length: 60 }, (_, at) => {
          const sample = SAMPLES[at % SAMPLES.length];
          const path = at % 2 === 0 ? `/api/channel/${sample}` : `/channel/${sample}`;
          return ask(path, clients[at % clients.length] as string);
        }),
      );
      expect(responses.every(({ status }) => status === 200 || status === 404 || status === 429)).toBe(true);
      return responses.filter(({ status }) => status !== 429).length;
    },

    async stop(): Promise<void> {
      await front.stop();
      await Promise.all(instances.map((instance) => instance.close()));
    },
  };
}

describe.skipIf(!findNginx())('a client that always has the same instance', () => {
  let subject: Awaited<ReturnType<typeof startByClient>>;

  beforeAll(async () => {
    subject = await startByClient();
  });
  afterAll(() => subject?.stop());

  test.each([
    ['an IPv4 address', ['192.0.2.7']],
    ['an IPv6 network', ['2001:db8:1:2::1', '2001:db8:1:2:ffff::a', '2001:db8:1:2:a0a:a0a:a0a:a0a']],
    ['a network with a line feed and a NUL in it', [1, 2, 3, 4, 5, 6].map((host) => `2001:db8:a:0a00::${host}`)],
  ])('has one limit for all channels: %s', async (_what, clients) => {
    expect(await subject.countAdmitted(...clients)).toBe(LIMIT);
  });

  test('has another limit than clients of other networks', async () => {
    expect(await subject.countAdmitted('192.0.2.8', '192.0.2.9', '2001:db8:2:3::1', '2001:db8:2:4::1')).toBe(4 * LIMIT);
  });

  test('shares its instance with a third of all clients', async () => {
    const decided = () =>
      Promise.all(subject.instances.map(async ({ metric }) => (await metric('pennant_limiter_clients')) as number));
    const before = await decided();
    for (let at = 0; at < 150; at += 1)
      await subject.ask('/problems', at % 2 === 0 ? `198.51.100.${at}` : `2001:db8:9:${at}::`);
    const after = await decided();
    const added = after.map((count, at) => count - (before[at] as number));
    expect(added.reduce((sum, count) => sum + count)).toBe(150);
    expect(Math.min(...added)).toBeGreaterThan(20);
  });
});

test.skipIf(!findNginx()).each([
  { prefixBits: 60, prefixBytes: 7, clients: ['2001:db8:1:20::1', '2001:db8:1:2a::a', '2001:db8:1:2f:a0a::'] },
  { prefixBits: 48, prefixBytes: 6, clients: ['2001:db8:1:2::1', '2001:db8:1:a0a::', '2001:db8:1:ffff::a'] },
  { prefixBits: 32, prefixBytes: 4, clients: ['2001:db8:1::1', '2001:db8:a0a::', '2001:db8:ffff::a'] },
])(
  'an IPv6 network of $prefixBits bits has one limit if nginx.conf names $prefixBytes bytes',
  async ({ clients, ...prefix }) => {
    const subject = await startByClient(prefix);
    onTestFinished(subject.stop);
    expect(await subject.countAdmitted(...clients)).toBe(LIMIT);
    expect(await subject.countAdmitted('192.0.2.7')).toBe(LIMIT);
  },
);
