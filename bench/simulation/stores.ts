import { LRUCache } from 'lru-cache';
import type { FileStore } from '../../src/picture-store/disk-files.ts';
import type { SharedPictures } from '../../src/picture-store/shared-pictures.ts';
import { SHARED_PICTURE_MAX_BYTES } from '../../src/services/cache-policy.ts';
import type { Store, StoredEntry } from '../../src/store/store.ts';

/** A store of one instance or of all, with its content. */
export interface SimulatedStore extends Store {
  /** All reads, hits and misses. */
  reads(): number;
  entries(): number;
  bytes(): number;
}

/** A store that never fails. Nothing expires, because a run is too short. */
export function createSimulatedStore({ isShared }: { readonly isShared: boolean }): SimulatedStore {
  const entries = new Map<string, StoredEntry>();
  let bytes = 0;
  let reads = 0;
  return {
    isShared,
    async get(key) {
      reads += 1;
      return entries.get(key);
    },
    async set(key, entry) {
      bytes += entry.value.length - (entries.get(key)?.value.length ?? -key.length);
      entries.set(key, entry);
    },
    async close() {},
    reads: () => reads,
    entries: () => entries.size,
    bytes: () => bytes,
  };
}

export interface SimulatedFiles extends FileStore {
  reads(): number;
}

/** Files with a quota and LRU eviction. */
export function createSimulatedFiles(maxBytes: number): SimulatedFiles {
  const files = new LRUCache<string, Buffer>({ maxSize: maxBytes, sizeCalculation: ({ length }) => length });
  let reads = 0;
  return {
    async get(key) {
      reads += 1;
      return files.get(key);
    },
    findPath: async (key) => (files.get(key) === undefined ? undefined : key),
    async set(key, bytes) {
      files.set(key, bytes);
    },
    erase: notPlayed,
    stats: () => ({
      entries: files.size,
      maxEntries: Number.POSITIVE_INFINITY,
      bytes: files.calculatedSize,
      maxBytes,
      plainBytes: files.calculatedSize,
      customBytes: 0,
    }),
    async close() {},
    reads: () => reads,
  };
}

export interface SimulatedSharedPictures extends SharedPictures {
  bytes(): number;
  pictures(): number;
}

/** Pictures in Redis, within its memory limit. */
export function createSimulatedSharedPictures(maxBytes: number): SimulatedSharedPictures {
  const pictures = new LRUCache<string, Buffer>({ maxSize: maxBytes, sizeCalculation: ({ length }) => length });
  return {
    get: async (key) => pictures.get(key),
    async set(key, bytes) {
      if (bytes.length <= SHARED_PICTURE_MAX_BYTES) pictures.set(key, bytes);
    },
    erase: notPlayed,
    bytes: () => pictures.calculatedSize,
    pictures: () => pictures.size,
  };
}

/** No run takes a channel down. */
function notPlayed(): Promise<never> {
  return Promise.reject(new Error('This is not played.'));
}
