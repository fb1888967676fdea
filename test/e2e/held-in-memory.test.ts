import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startForTest, startTestApp, type TestApp } from '../helpers/app.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';
import { measureHeldBytes } from '../helpers/heap.ts';

const MIB = 2 ** 20;

async function start(): Promise<TestApp> {
  return startForTest({ sources: [numberedSource()] });
}

/** The metrics of a cache. A metric that it does not have is `undefined`. */
function readGauge(service: TestApp, gauge: string, figure: string): Promise<number | undefined> {
  return service.metric(`pennant_${gauge}_${figure}`);
}

describe('the memory that clients can use', () => {
  // The first app of a process loads the code, which would count as used memory.
  let first: TestApp;
  beforeAll(async () => {
    first = await startTestApp({ sources: [numberedSource()] });
    await first.get('/api/search?q=a');
  });
  afterAll(() => first.close());

  test('is bounded for many hosts and channels', async () => {
    const service = await start();
    const askedFor = (host: string, channels: number) => async () => {
      for (let number = 0; number < channels; number += 1) {
        for (let asked = 0; asked < 8; asked += 1) {
          await service.get(`/channel/${numberedChannelId(number)}`, { host: `${asked}${host}` });
        }
      }
    };
    const taken = await measureHeldBytes(askedFor('a'.repeat(22_000), 80));
    // Without a bound, the hosts of 640 requests alone would take 13 MiB.
    expect(taken).toBeLessThan(8 * MIB);

    await askedFor('a'.repeat(259), 120)();
    const bytes = await readGauge(service, 'micro_cache', 'bytes');
    expect(bytes).toBeGreaterThan(2 * MIB);
    expect(bytes).toBeLessThanOrEqual((await readGauge(service, 'micro_cache', 'max_bytes')) ?? 0);
  });

  test('is bounded for many long URLs and Accept fields', async () => {
    const service = await start();
    const taken = await measureHeldBytes(async () => {
      for (let number = 0; number < 1_500; number += 1) {
        const url = `/api/search?q=a&junk=${number}${'x'.repeat(8_000)}`;
        await service.get(url, { accept: `image/avif;q=0.${number}, ${'a/b, '.repeat(3_000)}` });
      }
    });
    // 34 MB were sent.
    expect(taken).toBeLessThan(20 * MIB);
  });
});
