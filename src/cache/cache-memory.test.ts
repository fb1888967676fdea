import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../test/helpers/cache.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { measureHeldBytes } from '../../test/helpers/heap.ts';
import { createCache } from './cache.ts';

const AT_ONCE = { softTimeoutMs: 0 };

function create(maxMemoryBytes: number) {
  const clock = createManualClock();
  return createCache<unknown>({
    policy: { freshMs: 3_600_000, graceMs: 86_400_000, isValue: () => true },
    maxMemoryBytes,
    store: { ...memoryStore(), set: async () => undefined },
    clock,
  });
}

/** A record like those of a source: every text is a separate string, in Latin or another script. */
function recordOf(number: number, text: string): unknown {
  const title = `${text} ${number}`;
  const links = Array.from({ length: 5 }, (_, at) => ({
    title: `${text} ${at}`,
    url: `https://site.example/${number}/${at}`,
  }));
  return {
    channel: {
      channelId: `UC${number}`,
      title,
      description: `${text.repeat(5)} ${number}`,
      customUrl: `@${title}`,
      subscriberCount: String(number),
      viewCount: String(number * 1_000),
      videoCount: null,
      links,
      banner: {
        kind: 'remote',
        key: `https://images.example/${number}`,
        urls: [`https://images.example/${number}=w1060`],
      },
    },
    isComplete: true,
  };
}

describe('the memory of the cache', () => {
  test.each([
    ['records in Latin script', (number: number) => recordOf(number, 'A channel about lighthouses')],
    ['records in other scripts', (number: number) => recordOf(number, 'Канал о маяках и море')],
    ['short values', (number: number) => `UC${number}`],
  ])('is counted at least: %s', async (_what, createValue) => {
    const cache = create(100 * 2 ** 20);
    const taken = await measureHeldBytes(async () => {
      for (let number = 0; number < 4_000; number += 1) {
        await cache.get(
          `kind1:${'k'.repeat(number % 60)}${number}`,
          async () => ({ value: createValue(number) }),
          AT_ONCE,
        );
      }
    });
    const { entries, bytes } = cache.stats().memory;
    expect(entries).toBe(4_000);
    expect(bytes).toBeGreaterThan(taken);
    expect(bytes).toBeLessThan(taken * 3);
  });
});
