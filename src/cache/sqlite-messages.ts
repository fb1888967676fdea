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
  | { readonly name: 'close' };

/** Times travel along because the worker has no clock of its own that a test could move. */
export interface Request {
  readonly id: number;
  readonly operation: Operation;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

export type Reply =
  | { readonly kind: 'done'; readonly id: number; readonly entry: StoredEntry | undefined }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string }
  | { readonly kind: 'rebuilt'; readonly reason: string };
