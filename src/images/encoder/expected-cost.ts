import { formatRow } from '../../domain/formats.ts';
import type { EncoderTask, JobOptions } from './job.ts';

/** Milliseconds of an encoder process. The real time is charged once it is known. */
const TASK_MS = 10;
const MS_PER_DECODED_MEGAPIXEL = 3;
const MEGAPIXEL = 1_000_000;

/** How long an encoder process will need for the task, in milliseconds. */
export function expectedMs(task: EncoderTask, { statedPixels = 0 }: Pick<JobOptions, 'statedPixels'>): number {
  if (task.kind === 'inspect') return TASK_MS + decodingMs(statedPixels);
  const { originalSize, output, format } = task.job;
  const encodingMs = ((output.width * output.height) / MEGAPIXEL) * formatRow(format).msPerMegapixel;
  return TASK_MS + decodingMs(originalSize.width * originalSize.height) + encodingMs;
}

function decodingMs(pixels: number): number {
  return (pixels / MEGAPIXEL) * MS_PER_DECODED_MEGAPIXEL;
}
