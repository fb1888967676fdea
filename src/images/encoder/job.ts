import type { Format, SourceFormat } from '../../domain/formats.ts';
import type { Size } from '../../domain/variants.ts';
import type { Rectangle } from '../crop.ts';
import type { Effort } from '../encode-settings.ts';

/** An original's bytes: the stored file where there is one, so that they need not cross the process boundary. */
export type OriginalBytes = { readonly path: string } | { readonly bytes: Buffer };

/** What a picture is, orientation already applied to width and height. */
export interface PictureInfo extends Size {
  readonly format: SourceFormat;
  readonly hasAlpha: boolean;
  /** Nothing to undo before a browser sees it: sRGB, 8 bit, upright, one frame, no metadata, nothing else in the file. */
  readonly isWebReady: boolean;
}

/** One encode as plain data. */
export interface EncodeJob {
  readonly original: OriginalBytes;
  readonly crop: Rectangle;
  readonly output: Size;
  readonly format: Format;
  /** 1–100; `undefined` takes the format's default. */
  readonly quality: number | undefined;
  /** Default `fast`. */
  readonly effort?: Effort;
}

/** `background` work runs one at a time while nothing interactive waits, and is killed when something does. */
export type Priority = 'interactive' | 'background';

export interface JobOptions {
  /** Aborted when nobody waits any more: a queued job is dropped and rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Whose work it is, for a fair queue; the empty string for the service's own. */
  readonly client: string;
  /** Whether somebody else waits for it too: it then keeps its place in a full queue. Default: nobody does. */
  readonly isShared?: () => boolean;
  /** Default `interactive`. */
  readonly priority?: Priority;
}

/** What an encoder process says first. */
export type EncoderGreeting =
  | { readonly kind: 'ready'; readonly version: string }
  | { readonly kind: 'unusable'; readonly reason: string };

/** What the server sends to an encoder process: plain data, one at a time. */
export type EncoderTask =
  | { readonly kind: 'inspect'; readonly original: OriginalBytes }
  | { readonly kind: 'encode'; readonly job: EncodeJob }
  | { readonly kind: 'refine'; readonly job: EncodeJob; readonly fast: Buffer };

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
