import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { AppError } from '../../domain/errors.ts';
import type { Size } from '../../domain/variants.ts';
import type { Clock } from '../../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../../lib/deadlines.ts';
import { currentClient } from '../../lib/request-scope.ts';
import { RESOURCE_LIMITS } from '../../lib/resource-limits.ts';
import { createRoundRobin } from '../../lib/round-robin.ts';
import type { EncodeJob, EncodeOptions, ImageInfo } from './job.ts';
import { encoderLimitsFor } from './limits.ts';
import { createSlot, type ProcessEvent, RETRY_AFTER_MS, type Slot, type SlotOptions } from './slot.ts';

/** An original or an image waits for an encoder process. */
export const ENCODER_WAIT_MS = 8_000;
/** A task of an encoder process. */
export const TASK_MS = 4_000;

/** Jobs that may wait. */
export const QUEUE_LENGTH = 64;

/** An encode with more pixels takes long: some of them together must not have every slot. */
const USUAL_PIXELS = { original: 8_000_000, output: 1_300_000 };

export interface EncoderOptions extends Partial<SlotOptions> {
  readonly clock: Clock;
  /** Default: from the CPU and memory limits of the cgroup, as `maxRssBytes` and `maxDataBytes`. */
  readonly processes?: number;
  /** Default: `QUEUE_LENGTH`. */
  readonly queueLength?: number;
  /** For metrics. A task waited `waitedMs` for its turn, and took `tookMs`. */
  readonly onFinished?: (finished: { task: 'inspect' | 'encode'; waitedMs: number; tookMs: number }) => void;
}

/**
 * Decodes and encodes images. A job takes the turn of the client whose request began it. When its signal is aborted, an image that
 * waits is dropped, and rejects with the signal's reason.
 *
 * `inspect` and `encode` reject with `AppError` `overloaded` if the queue is full, or if a job waits in it for too long, misses
 * its deadline (`validForMs`: a minute), or crashes two processes; with `upstream_invalid` if the original cannot be decoded,
 * which may be for lack of memory; with the error of `readOriginal`, or with `upstream_timeout` if that takes too long. Everything
 * else is a bug.
 */
export interface Encoder {
  /** The version of the image library, as hex digits. Another version may encode the same job as other bytes. */
  readonly libraryVersion: string;
  /** Reads the properties of an original, and decodes enough of it to notice missing data. */
  inspect(readOriginal: EncodeJob['readOriginal']): Promise<ImageInfo>;
  encode(job: EncodeJob, signal: AbortSignal): Promise<Buffer>;
  stats(): EncoderStats;
  /** Starts a process before the first task. */
  warmUp(): void;
  /** Ends the processes at once. Unfinished jobs reject with `overloaded`. */
  close(): Promise<void>;
}

export interface EncoderStats {
  readonly queued: number;
  readonly running: number;
  readonly processes: number;
  /** Processes that ended because of a task or of themselves, not because they were idle or closed. */
  readonly restarts: number;
  /** Jobs that were rejected because the queue was full or they waited for too long. */
  readonly refused: number;
}

/** Encodes in separate processes, which start with the first work or with `warmUp`. The caller closes the encoder. */
export function createEncoder(options: EncoderOptions): Encoder {
  const { queueLength = QUEUE_LENGTH, deadlineMs = TASK_MS, clock, onFinished } = options;
  const { processes, ...limits } = encoderLimitsFor(RESOURCE_LIMITS, options.processes);
  let refused = 0;
  let restarts = 0;
  function onEvent(event: ProcessEvent): void {
    if (event.kind === 'ended' && event.reason !== 'idle' && event.reason !== 'closed') restarts += 1;
    options.onEvent?.(event);
  }
  const slotOptions = { ...limits, ...options, deadlineMs, clock, onEvent };
  const slots = Array.from({ length: processes }, () => createSlot(slotOptions));
  const queue = createRoundRobin({ places: slots, maxWaitMs: ENCODER_WAIT_MS, clock, refusal });

  function refusal(): AppError {
    refused += 1;
    const message = 'Too many images are being encoded at the moment.';
    return new AppError('overloaded', message, { retryAfterMs: RETRY_AFTER_MS });
  }

  /** The first slot takes usual tasks only, unless there is no other one. It is the last one that needs a process. */
  function mayTake(slot: Slot, options: EncodeOptions | undefined): boolean {
    return slot !== slots[0] || slots.length === 1 || isUsual(options);
  }

  /** Without options, the original is inspected. */
  async function perform(
    readOriginal: EncodeJob['readOriginal'],
    options: EncodeOptions | undefined,
    signal: AbortSignal,
  ): Promise<ImageInfo | Buffer> {
    const submittedAtMs = clock.monotonic();
    const turn = { client: currentClient(), signal, maxWaiting: queueLength };
    const suits = (slot: Slot) => mayTake(slot, options);
    const reply = await queue.run({ ...turn, suits }, async (slot) => {
      const startedAtMs = clock.monotonic();
      const original = await withDeadline(clock, deadlineMs, NEVER_ABORTED, readOriginal);
      const reply = await slot.run({ original, options });
      const task = options === undefined ? 'inspect' : 'encode';
      onFinished?.({ task, waitedMs: startedAtMs - submittedAtMs, tookMs: clock.monotonic() - startedAtMs });
      return reply;
    });
    if (reply.ok) return reply.result;
    const cause = new Error(reply.detail);
    if (!reply.isUndecodable) throw cause;
    throw new AppError('upstream_invalid', 'The original image cannot be decoded.', { cause });
  }

  return {
    libraryVersion: readLibraryVersion(),
    async inspect(readOriginal) {
      return (await perform(readOriginal, undefined, NEVER_ABORTED)) as ImageInfo;
    },
    async encode({ readOriginal, ...options }, signal) {
      return (await perform(readOriginal, options, signal)) as Buffer;
    },
    stats() {
      const processes = slots.filter((slot) => slot.hasProcess()).length;
      return { queued: queue.waiting(), running: queue.running(), processes, restarts, refused };
    },
    warmUp() {
      if (!slots.some((slot) => slot.hasProcess())) slots.at(-1)?.warmUp();
    },
    async close() {
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}

function isUsual(options: EncodeOptions | undefined): boolean {
  const pixelsOf = ({ width, height }: Size) => width * height;
  return (
    options === undefined ||
    (pixelsOf(options.originalSize) <= USUAL_PIXELS.original && pixelsOf(options.output) <= USUAL_PIXELS.output)
  );
}

/**
 * The version of the image library as hex digits, with the processor: another one may encode the same image as other bytes.
 * Does not see the libvips of the system, if sharp was compiled for that.
 */
export function readLibraryVersion(): string {
  // The versions of its compiled libraries are fixed by its own.
  const { version } = JSON.parse(readFileSync(findPackageJSON('sharp', import.meta.url) ?? '', 'utf8'));
  return hash('sha256', `${version} ${process.platform} ${process.arch}`).slice(0, 8);
}
