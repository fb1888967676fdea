import { formatRow } from '../../domain/formats.ts';
import type { EncoderTask } from './job.ts';

/** Milliseconds of an encoder process. The real time is charged once it is known. */
const TASK_MS = 10;
const MS_PER_DECODED_MEGAPIXEL = 3;
const MEGAPIXEL = 1_000_000;

/** How long an encoder process will need for the task, in milliseconds. */
export function expectedMs(task: EncoderTask): number {
  if (task.kind === 'inspect') return TASK_MS;
  const { originalSize, output, format } = task.job;
  const decodingMs = ((originalSize.width * originalSize.height) / MEGAPIXEL) * MS_PER_DECODED_MEGAPIXEL;
  const encodingMs = ((output.width * output.height) / MEGAPIXEL) * formatRow(format).msPerMegapixel;
  return TASK_MS + decodingMs + encodingMs;
}
