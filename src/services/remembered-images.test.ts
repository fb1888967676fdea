import { describe, expect, it } from 'vitest';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel } from '../domain/channel.ts';
import { channelIdRef } from '../domain/identifier.ts';
import { imageKey } from '../image-store/image-keys.ts';
import type { Original } from './cache-policy.ts';
import { createImageService } from './images.ts';
import { createReEncoding } from './re-encoding.ts';

const OUTCOME: CacheOutcome = { kind: 'hit', ttlMs: 1, isCollapsed: false, isStored: false };
const unused = () => Promise.reject(new Error('not expected'));

const channelIdOf = (number: number) => `UC${String(number).padStart(22, '0')}`;

function originalOf(number: number): Original {
  const digest = String(number).padStart(32, '0');
  const side = (number % 4_000) + 1;
  const size = { width: side, height: side };
  return { refKey: '', digest, firstStoredAtMs: 0, ...size, format: 'jpeg', hasAlpha: false };
}

function createSubjects() {
  const runtime = createTestRuntime();
  const reEncoding = createReEncoding({ runtime });
  const service = createImageService({
    channels: {
      getChannel: async ([ref]) => {
        const avatar = { kind: 'remote', key: '', urls: [] } as const;
        return { channel: { channelId: ref?.value, avatar } as unknown as Channel, outcome: OUTCOME };
      },
    },
    originals: {
      get: async (channel) => ({
        channel,
        value: originalOf(Number(channel.channelId.slice(2))),
        outcome: OUTCOME,
        isCurrent: true,
      }),
      read: unused,
      readBytes: unused,
    },
    encoder: { encode: unused, libraryVersion: '01234567' },
    images: { get: async () => undefined, put: () => undefined },
    reEncoding,
    runtime,
  });
  return { reEncoding, service, runtime };
}

describe('the memory for re-encoding', () => {
  memoryTest('counts at least the memory that it takes', async () => {
    const { service, runtime } = createSubjects();
    const heldBytes = await measureHeldBytes(async () => {
      for (let number = 0; number < 9_000; number += 1) {
        const refs = [channelIdRef(channelIdOf(number))];
        const noSize = { width: undefined, height: undefined };
        await service.getImage({ refs, variant: 'avatar', formats: ['avif'], ...noSize, quality: number % 100 });
      }
    });
    const toEncodeAgain = heldBy(runtime, 'images to encode again');
    expect(toEncodeAgain.entries).toBe(9_000);
    expect(heldBytes).toBeLessThan(toEncodeAgain.bytes ?? 0);
  });

  it('is bounded', async () => {
    const { reEncoding, runtime } = createSubjects();
    for (let number = 0; number < 30_000; number += 1) {
      const { digest, width, height } = originalOf(number);
      const crop = { left: 0, top: 0, width, height };
      const identity = { channelId: channelIdOf(number), digest, crop, output: crop, quality: number % 100 };
      const key = imageKey({ ...identity, format: 'avif' }, '01234567');
      await reEncoding.nextEffort({ key, isOptimizedStored: async () => false, reEncode: unused });
    }
    const { entries = 0, bytes = 0, maxBytes = 0 } = heldBy(runtime, 'images to encode again');
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(entries).toBeGreaterThan(8_000);
    expect(entries).toBeLessThan(30_000);
  });
});
