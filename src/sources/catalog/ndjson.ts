import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';

/** Well above the longest record (record.ts bounds each field), and small in memory. */
export const MAX_LINE_BYTES = 512 * 1024;

export interface NdjsonLine {
  /** From 1; blank lines count. */
  readonly number: number;
  readonly content: { readonly text: string } | { readonly problem: string };
}

/**
 * Splits a file into lines and skips blank ones. Keeps at most one line in memory. Removes a byte order mark and carriage
 * returns. A line that is too long or not UTF-8 is returned as a problem, followed by the other lines.
 */
export async function* readNdjsonLines(input: Readable): AsyncGenerator<NdjsonLine> {
  let number = 0;
  let parts: Buffer[] = [];
  let partBytes = 0;

  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      yield* finishLine();
    }
    keep(chunk.subarray(start));
  }
  yield* finishLine();

  function keep(part: Buffer): void {
    partBytes += part.length;
    // Bytes over the limit are counted but not kept.
    if (partBytes <= MAX_LINE_BYTES) parts.push(part);
  }

  function* finishLine(): Generator<NdjsonLine> {
    number += 1;
    const content = readContent(parts, partBytes, number === 1);
    parts = [];
    partBytes = 0;
    if (content !== undefined) yield { number, content };
  }
}

const NEWLINE = 0x0a;

/** `parts` has fewer than `bytes` bytes if the line is too long. */
function readContent(parts: readonly Buffer[], bytes: number, isFirst: boolean): NdjsonLine['content'] | undefined {
  if (bytes > MAX_LINE_BYTES) return { problem: `longer than ${MAX_LINE_BYTES} bytes` };
  const joined = Buffer.concat(parts, bytes);
  if (!isUtf8(joined)) return { problem: 'not UTF-8' };
  const text = joined.toString('utf8').replace(/\r$/, '');
  const line = isFirst && text.startsWith('\u{feff}') ? text.slice(1) : text;
  return line.trim() === '' ? undefined : { text: line };
}
