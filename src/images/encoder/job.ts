import type { EncodeJob, OriginalBytes, PictureInfo } from './encoder.ts';

/** What an encoder process says first. */
export type EncoderGreeting =
  | { readonly kind: 'ready'; readonly version: string }
  | { readonly kind: 'unusable'; readonly reason: string };

/** What the server sends to an encoder process: plain data, one at a time. */
export type EncoderTask =
  | { readonly kind: 'inspect'; readonly original: OriginalBytes }
  | { readonly kind: 'encode'; readonly job: EncodeJob }
  | { readonly kind: 'refine'; readonly job: EncodeJob; readonly quick: Buffer };

export type TaskFailure =
  /** The original is not a picture that we decode. */
  | 'undecodable'
  /** The original's file is gone: the store has evicted it meanwhile. */
  | 'missing'
  /** Anything else: a bug. */
  | 'bug';

interface TaskOutcome {
  /** The process's resident memory after the task. */
  readonly rssBytes: number;
}

interface TaskSuccess extends TaskOutcome {
  readonly ok: true;
  readonly result: PictureInfo | Buffer | undefined;
}

export interface TaskError extends TaskOutcome {
  readonly ok: false;
  readonly failure: TaskFailure;
  /** For the log, never for a client. */
  readonly detail: string;
}

/** What an encoder process answers. */
export type TaskReply = TaskSuccess | TaskError;
