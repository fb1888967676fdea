/**
 * An encoder process: runs one task at a time for its parent, and ends when the parent is gone. Only this file imports the
 * image library, so that its decoders have no access to the server's memory.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import sharp, { type Sharp, type SharpOptions } from 'sharp';
import { formatRow, MAX_ORIGINAL_SIDE_PX, sniffFormat } from '../../domain/formats.ts';
import { type Backdrop, isSameSize, type Size } from '../../domain/variants.ts';
import {
  type EncodeOptions,
  type EncoderTask,
  encoderOptions,
  type ImageInfo,
  MAX_ORIGINAL_PIXELS,
  type TaskReply,
} from './job.ts';

/** Incomplete files are rejected. Warnings of decoders (a wrong checksum in a comment, for example) are accepted, as in browsers. */
const INPUT_OPTIONS: SharpOptions = { limitInputPixels: MAX_ORIGINAL_PIXELS, failOn: 'error' };
const ALLOWED_LOADERS = [
  'VipsForeignLoadJpegBuffer',
  'VipsForeignLoadPngBuffer',
  'VipsForeignLoadWebpBuffer',
  'VipsForeignLoadHeifBuffer',
  'VipsForeignLoadNsgifBuffer',
];

const TASKS_PER_FULL_COLLECTION = 20;

/** The alpha of a pixel that shows nothing behind it. */
const OPAQUE = 255;

class Undecodable extends Error {}

function prepareLibrary(): void {
  // Every other loader (SVG, PDF, TIFF …) is attack surface. It stays blocked even if the signature check is bypassed.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ALLOWED_LOADERS });
  // Processes run in parallel. A cache of operations would keep images that are not used again.
  sharp.concurrency(1);
  sharp.cache(false);
}

function ignoreStopSignals(): void {
  // Terminals and service managers signal the whole group, but the server needs its encoders to finish requests.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
  // Not process.exit(), which waits for a thread that may run a long encode.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  if (!process.connected) process.kill(process.pid, 'SIGKILL');
}

/** A program of util-linux. Node cannot limit its own process. */
const PRLIMIT = '/usr/bin/prlimit';

/**
 * Limits what the process may allocate (RLIMIT_DATA) beyond what Node and the library have now. Then the library reports an
 * error, or the process crashes, before an image takes the memory of the server. A crash writes no core file. If the system has
 * no memory left, it ends this process first.
 */
function limitMemory(maxDataBytes: number): void {
  try {
    const inUseKib = Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
    const maxBytes = inUseKib * 1024 + maxDataBytes;
    // Without the program there is no limit.
    spawnSync(PRLIMIT, ['--pid', String(process.pid), `--data=${maxBytes}`, '--core=0'], { env: {} });
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Not Linux, or not allowed. The system then chooses by size.
  }
}

async function perform({ original, options }: EncoderTask): Promise<TaskReply> {
  const { rss } = process.memoryUsage;
  try {
    const result = await (options === undefined ? inspect(original) : encode(original, options));
    return { ok: true, result, rssBytes: rss() };
  } catch (error) {
    const { message } = error as Error;
    return { ok: false, isUndecodable: error instanceof Undecodable, detail: message, rssBytes: rss() };
  }
}

async function inspect(bytes: Buffer): Promise<ImageInfo> {
  assertFormat(bytes);
  const image = sharp(bytes, INPUT_OPTIONS);
  const { width, height, hasAlpha, autoOrient } = await awaitLibrary(image.metadata());
  if (Math.max(width, height) > MAX_ORIGINAL_SIDE_PX) throw new Undecodable('The original has too long a side');
  const size = { width: autoOrient.width, height: autoOrient.height };
  if (hasAlpha) {
    const alpha = await awaitLibrary(image.extractChannel('alpha').raw().toBuffer());
    return { ...size, hasTransparency: alpha.some((value) => value < OPAQUE) };
  }
  // The header does not show whether the rest is damaged. Decoders start at the top, so the last row needs all data.
  const lastRow = image.extract({ left: 0, top: height - 1, width, height: 1 });
  await awaitLibrary(lastRow.raw().toBuffer());
  return { ...size, hasTransparency: false };
}

async function encode(bytes: Buffer, options: EncodeOptions): Promise<Buffer> {
  const { originalSize, crop, output, backdrop, format, quality } = options;
  assertFormat(bytes);
  const size = backdrop?.inner ?? output;
  let image = sharp(bytes, INPUT_OPTIONS).autoOrient();
  // Only a whole JPEG is shrunk while it is loaded, and the crop would round its edges to pixels of the shrunk image.
  if (!isSameSize(crop, originalSize)) image = image.extract(crop);
  if (!isSameSize(crop, size))
    image = image.resize({ width: size.width, height: size.height, fit: 'fill', fastShrinkOnLoad: false });
  if (backdrop !== undefined) image = await pad(image, output, backdrop);
  else if (!formatRow(format).hasTransparency) image = image.flatten({ background: 'white' });
  return awaitLibrary(image.toFormat(format, encoderOptions(format, output, quality)).toBuffer());
}

async function pad(image: Sharp, output: Size, { inner, background }: Backdrop): Promise<Sharp> {
  const isTransparent = background === 'transparent';
  const color = isTransparent ? background : `#${background}`;
  const left = Math.floor((output.width - inner.width) / 2);
  const top = Math.floor((output.height - inner.height) / 2);
  const right = output.width - inner.width - left;
  const bottom = output.height - inner.height - top;
  const { channels } = await awaitLibrary(image.metadata());
  // Otherwise the library replaces a color around a greyscale image by a grey.
  if (channels < 3) image.pipelineColourspace('srgb');
  if (!isTransparent) image.flatten({ background: color });
  return image.extend({ left, top, right, bottom, background: color });
}

/**
 * Awaits a pipeline of the library, which reports one error for all of its steps. After it has accepted the parameters, the
 * original is at fault.
 *
 * @throws Undecodable
 */
async function awaitLibrary<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw new Undecodable((error as Error).message);
  }
}

/** @throws Undecodable */
function assertFormat(bytes: Buffer): void {
  if (sniffFormat(bytes) === undefined) throw new Undecodable('The original has no format that is decoded');
}

prepareLibrary();
ignoreStopSignals();
limitMemory(Number(process.argv[2]));
let performed = 0;
process.on('message', async (task: EncoderTask) => {
  process.send?.(await perform(task));
  performed += 1;
  // V8 sees small handles and not the megabytes behind them, so that about 30 MB of dead buffers would pile up. A reply
  // that is still being written survives minor collections. A full collection takes about 20 ms.
  globalThis.gc?.({ type: performed % TASKS_PER_FULL_COLLECTION === 0 ? 'major' : 'minor', execution: 'sync' });
});
process.send?.('ready');
