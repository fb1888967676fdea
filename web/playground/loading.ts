import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

interface ProblemFields {
  readonly title: string;
  readonly detail: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  /** True if the same request may succeed later. */
  readonly canRetry?: boolean;
}

/** A reason why something could not be loaded, in words for the visitor. */
export class Problem extends Error {
  readonly fields: ProblemFields;

  constructor(fields: ProblemFields) {
    super(fields.detail);
    this.fields = fields;
  }
}

/** Something that is loaded. It has neither a value nor a problem while it is under way. */
export interface Loading<T> {
  readonly state: Signal<{ readonly value?: T; readonly problem?: Problem }>;
  readonly retry: () => void;
  /** Ends the loading. What comes afterwards changes nothing. */
  readonly abort: () => void;
}

/** @param load rejects with `Problem`, or the signal's reason */
export function startLoading<T>(load: (signal: AbortSignal) => Promise<T>): Loading<T> {
  const state: Loading<T>['state'] = signal({});
  const ending = new AbortController();

  async function run(): Promise<void> {
    state.value = {};
    try {
      const value = await load(ending.signal);
      if (!ending.signal.aborted) state.value = { value };
    } catch (error) {
      if (ending.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      state.value = { problem: error };
    }
  }

  void run();
  return { state, retry: () => void run(), abort: () => ending.abort() };
}

/** Loads what belongs to the key, and ends the loading of the former key. @param key `undefined`: nothing is loaded */
export function useLoading<T>(key: unknown, load: (signal: AbortSignal) => Promise<T>): Loading<T> | undefined {
  const loading = useMemo(() => (key === undefined ? undefined : startLoading(load)), [key]);
  useEffect(() => () => loading?.abort(), [loading]);
  return loading;
}
