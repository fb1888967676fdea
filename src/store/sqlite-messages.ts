import type { Change } from './changes.ts';
import type { StoredEntry } from './store.ts';

/** What the worker thread is started with. */
export interface WorkerOptions {
  readonly path: string;
  readonly maxBytes: number;
}

export type Operation =
  | { readonly name: 'get'; readonly key: string }
  | { readonly name: 'set'; readonly key: string; readonly entry: StoredEntry; readonly ttlMs: number }
  | { readonly name: 'delete'; readonly key: string }
  | { readonly name: 'erase'; readonly change: Change; readonly from: ErasingPlace | undefined }
  | { readonly name: 'finish-erasing' }
  | { readonly name: 'erase-all' }
  | { readonly name: 'close' };

/** Times travel along because the worker has no clock of its own that a test could move. */
export interface Request {
  readonly id: number;
  readonly operation: Operation;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** What one step of erasing came to. */
export interface ErasingStep {
  readonly erasedKeys: readonly string[];
  /** Where the next step begins; `undefined` at the end. */
  readonly next: ErasingPlace | undefined;
}

export interface ErasingPlace {
  readonly afterRow: number;
  /** The last row when it began: what was stored since is newer than the change. */
  readonly upToRow: number;
}

export type Result = StoredEntry | ErasingStep | undefined;

export type Reply =
  | { readonly kind: 'done'; readonly id: number; readonly result: Result }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  | { readonly kind: 'rebuilt'; readonly reason: string };
