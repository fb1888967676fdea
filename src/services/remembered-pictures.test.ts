import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { measureHeldBytes, memoryTest } from '../../test/helpers/heap.ts';
import type { Channel } from '../domain/channel.ts';
import type { PictureCache } from '../picture-store/pictures.ts';
import { createChanges } from '../store/changes.ts';
import { pictureKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import { createRefinements } from './re-encoding.ts';
import { createRenderer, type PictureSpec } from './renderer.ts';

const EMPTY_STORE: Store = {
  get: async () => undefined,
  set: async () => {},
  delete: async () => {},
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
  const clock = createManualClock();
  const refinements = createRefinements({
    store: EMPTY_STORE,
    changes: createChanges(),
    clock,
    onError: () => undefined,
  });
  const renderer = createRenderer({
    originals: { get: unused, read: unused, readBytes: unused },
    encoder: { encode: unused, reencode: unused },
    pictures: { has: async () => false } as unknown as PictureCache,
    refinements,
    changes: createChanges(),
    clock,
  });
  return { refinements, renderer };
}

describe('what is remembered of pictures', () => {
  memoryTest('counts at least the memory that it takes', async () => {
    const { refinements, renderer } = createSubjects();
    const heldBytes = await measureHeldBytes(async () => {
      for (let number = 0; number < 9_000; number += 1) await renderer.renditionOf(specOf(number));
    });
    const { etags } = renderer.stats();
    expect(etags.entries).toBe(9_000);
    expect(refinements.stats().entries).toBe(9_000);
    expect(heldBytes).toBeLessThan((etags.bytes ?? 0) + (refinements.stats().bytes ?? 0));
  });

  it('is bounded', async () => {
    const { refinements } = createSubjects();
    for (let number = 0; number < 30_000; number += 1) {
      await refinements.generationOf(pictureKey(specOf(number).identity));
    }
    const { entries = 0, bytes = 0, maxBytes = 0 } = refinements.stats();
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(entries).toBeGreaterThan(8_000);
    expect(entries).toBeLessThan(30_000);
  });
});
