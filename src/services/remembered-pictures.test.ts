import { describe, expect, it } from 'vitest';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import type { Channel } from '../domain/channel.ts';
import type { PictureCache } from '../picture-store/pictures.ts';
import { createChanges } from '../store/changes.ts';
import { pictureKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { createRenderer, type PictureSpec } from './pictures.ts';
import { createReEncoding } from './re-encoding.ts';

const EMPTY_STORE: Store = {
  get: async () => undefined,
  set: async () => {},
  close: async () => {},
};
const unused = () => Promise.reject(new Error('not expected'));

function specOf(number: number): PictureSpec {
  const channelId = `UC${String(number).padStart(22, '0')}`;
  const size = { width: (number % 4_000) + 1, height: (number % 4_000) + 1 };
  const digest = String(number).padStart(32, '0');
  return {
    channel: { channelId } as Channel,
    kind: 'avatar',
    variant: 'avatar',
    original: { refKey: '', digest, firstStoredAtMs: 0, ...size, format: 'jpeg', hasAlpha: false, isWebReady: false },
    identity: {
      channelId,
      digest,
      crop: { left: 0, top: 0, ...size },
      output: size,
      format: 'avif',
      quality: number % 100,
    },
    fileClass: 'custom',
  };
}

function createSubjects() {
  const runtime = createTestRuntime();
  const reEncoding = createReEncoding({
    store: EMPTY_STORE,
    changes: createChanges(),
    runtime,
  });
  const renderer = createRenderer({
    originals: { read: unused, readBytes: unused },
    encoder: { encode: unused, reencode: unused },
    pictures: { has: async () => false } as unknown as PictureCache,
    reEncoding,
    changes: createChanges(),
    runtime,
  });
  return { reEncoding, renderer, runtime };
}

describe('the memory for re-encoding and ETags', () => {
  memoryTest('counts at least the memory that it takes', async () => {
    const { renderer, runtime } = createSubjects();
    const heldBytes = await measureHeldBytes(async () => {
      for (let number = 0; number < 9_000; number += 1) await renderer.renditionOf(specOf(number));
    });
    const etags = heldBy(runtime, 'ETags of pictures');
    const toEncodeAgain = heldBy(runtime, 'pictures to encode again');
    expect([etags.entries, toEncodeAgain.entries]).toEqual([9_000, 9_000]);
    expect(heldBytes).toBeLessThan((etags.bytes ?? 0) + (toEncodeAgain.bytes ?? 0));
  });

  it('is bounded', async () => {
    const { reEncoding, runtime } = createSubjects();
    for (let number = 0; number < 30_000; number += 1) {
      await reEncoding.encodingOf(pictureKey(specOf(number).identity));
    }
    const { entries = 0, bytes = 0, maxBytes = 0 } = heldBy(runtime, 'pictures to encode again');
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(entries).toBeGreaterThan(8_000);
    expect(entries).toBeLessThan(30_000);
  });
});
