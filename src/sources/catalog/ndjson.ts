import type { Readable } from 'node:stream';

/** Far above the longest record (parse-record.ts bounds each field), far below what memory minds. */
export const MAX_LINE_BYTES = 512 * 1024;

export interface NdjsonLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Bytes of the file up to the end of this line. */
  readonly endOffset: number;
  readonly content: { readonly text: string } | { readonly problem: string };
}

/**
 * Splits a file into its lines that are not blank, holding at most one line at a time. A byte order mark and carriage
 * returns are dropped. A line that is too long or no UTF-8 comes as a problem, and the ones after it still come.
 */
export async function* readNdjsonLines(input: Readable): AsyncGenerator<NdjsonLine> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let partBytes = 0;

  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      offset += end - start + 1;
      start = end + 1;
      yield* finishLine();
    }
    keep(chunk.subarray(start));
    offset += chunk.length - start;
  }
  yield* finishLine();

  function keep(part: Buffer): void {
    partBytes += part.length;
    // What is over the limit is counted and not held.
    if (partBytes <= MAX_LINE_BYTES) parts.push(part);
  }

  function* finishLine(): Generator<NdjsonLine> {
    number += 1;
    const content = readContent(parts, partBytes, number === 1);
    parts = [];
    partBytes = 0;
    if (content !== undefined) yield { number, endOffset: offset, content };
  }
}

const NEWLINE = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readContent(parts: Buffer[], bytes: number, isFirst: boolean): NdjsonLine['content'] | undefined {
  if (bytes > MAX_LINE_BYTES) return { problem: `longer than ${MAX_LINE_BYTES} bytes` };
  const text = decode(Buffer.concat(parts, bytes));
  if (text === undefined) return { problem: 'not UTF-8' };
  const line = (isFirst && text.startsWith('\u{feff}') ? text.slice(1) : text).replace(/\r$/, '');
  return line.trim() === '' ? undefined : { text: line };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
