import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_BYTES, type NdjsonLine, readNdjsonLines } from './ndjson.ts';

async function linesOf(...chunks: (string | Buffer)[]): Promise<NdjsonLine[]> {
  const lines: NdjsonLine[] = [];
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  for await (const line of readNdjsonLines(input)) lines.push(line);
  return lines;
}

describe('readNdjsonLines', () => {
  it('numbers lines from one, counts empty ones, and needs no line end after the last', async () => {
    expect(await linesOf('a\n\n  \nb')).toEqual([
      { number: 1, content: { text: 'a' } },
      { number: 4, content: { text: 'b' } },
    ]);
  });

  it('removes a byte order mark and carriage returns', async () => {
    const lines = await linesOf('\u{feff}a\r\nb\r\n');
    expect(lines.map(({ content }) => content)).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  it('reads a character that is split between two chunks', async () => {
    const bytes = Buffer.from('"ö"\n"🎉"\n');
    const lines = await linesOf(...Array.from(bytes, (byte) => Buffer.from([byte])));
    expect(lines.map(({ content }) => content)).toEqual([{ text: '"ö"' }, { text: '"🎉"' }]);
  });

  it('skips a line that is too long and continues with the next', async () => {
    const piece = 'x'.repeat(MAX_LINE_BYTES / 2);
    const lines = await linesOf(piece, piece, 'x', piece, '\nb\n');
    expect(lines.map(({ content }) => content)).toEqual([
      { problem: `longer than ${MAX_LINE_BYTES} bytes` },
      { text: 'b' },
    ]);
  });

  it('accepts a line of exactly the maximum length', async () => {
    const [line] = await linesOf('x'.repeat(MAX_LINE_BYTES), '\n');
    expect(line?.content).toEqual({ text: 'x'.repeat(MAX_LINE_BYTES) });
  });

  it('reports a line that is not UTF-8', async () => {
    const lines = await linesOf(Buffer.from([0x22, 0xff, 0x22, 0x0a]), 'b');
    expect(lines.map(({ content }) => content)).toEqual([{ problem: 'not UTF-8' }, { text: 'b' }]);
  });
});
