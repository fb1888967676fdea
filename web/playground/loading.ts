import { type ReadonlySignal, signal } from '@preact/signals';

interface ProblemFields {
  readonly title: string;
  readonly detail: string;
  readonly requestId?: string;
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
  readonly state: ReadonlySignal<{ readonly value?: T; readonly problem?: Problem }>;
  readonly retry: () => void;
}

/** @param load rejects with `Problem` */
export function startLoading<T>(load: () => Promise<T>): Loading<T> {
  const state = signal({});

  async function run(): Promise<void> {
    state.value = {};
    try {
      state.value = { value: await load() };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      state.value = { problem: error };
    }
  }

  void run();
  return { state, retry: run };
}
