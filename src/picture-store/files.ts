import type { HolderStats } from '../lib/holders.ts';
import type { Change } from '../store/changes.ts';

/** Which part of the quota a file belongs to: `custom` pictures (own width, height or quality) go first. */
export type FileClass = 'plain' | 'custom';

/** `bytes` is what the files and their directories take on the disk. */
export interface FileStoreStats extends HolderStats {
  readonly entries: number;
  readonly maxEntries: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Of `bytes`, without the directories. */
  readonly plainBytes: number;
  readonly customBytes: number;
}

export interface ErasedFiles {
  readonly files: number;
  /** That they took on the disk. */
  readonly bytes: number;
}

/** Picture bytes on disk, under a quota. Never returns a cut, empty or foreign file. */
export interface FileStore {
  get(key: string): Promise<Buffer | undefined>;
  /** The file's path when it is stored, for a process that reads it itself; undefined otherwise. */
  findPath(key: string): Promise<string | undefined>;
  set(key: string, bytes: Buffer, fileClass: FileClass): Promise<void>;
  /** Removes every file that the change concerns, whoever wrote it. Rejects when one cannot be removed. */
  erase(change: Change): Promise<ErasedFiles>;
  stats(): FileStoreStats;
  close(): Promise<void>;
}
